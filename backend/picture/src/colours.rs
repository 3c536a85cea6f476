//! What numbers look like: from the least, dark violet, by green to the greatest, yellow, as the map `viridis` has it,
//! which is even to the eye and in print; from black to white in gray images.

use crate::scale::Scale;
use crate::{Kind, Picture};

/// Red, green and blue.
pub type Colour = [u8; 3];

/// Colours at equal distances along the map.
const MAP: [Colour; 9] = [
    [0x44, 0x01, 0x54],
    [0x47, 0x2d, 0x7b],
    [0x3b, 0x52, 0x8b],
    [0x2c, 0x72, 0x8e],
    [0x21, 0x91, 0x8c],
    [0x28, 0xae, 0x80],
    [0x5e, 0xc9, 0x62],
    [0xad, 0xdc, 0x30],
    [0xfd, 0xe7, 0x25],
];

/// What is no number.
const NONE: Colour = [0xcc, 0xcc, 0xcc];

/// Steps of the map: more than an eye tells apart.
const STEPS: usize = 1024;

/// The colour at a part of the map, from 0 to 1.
pub fn at(part: f64) -> Colour {
    if part.is_nan() {
        return NONE;
    }
    let place = part.clamp(0.0, 1.0) * (MAP.len() - 1) as f64;
    let index = (place as usize).min(MAP.len() - 2);
    let within = place - index as f64;
    let mix = |channel: usize| {
        let (low, high) = (f64::from(MAP[index][channel]), f64::from(MAP[index + 1][channel]));
        (low + within * (high - low)).round() as u8
    };
    [mix(0), mix(1), mix(2)]
}

/// The nearest of 0 to 255; `round` would be a call for each. What is no number becomes 0.
fn level(value: f64) -> u8 {
    (value.clamp(0.0, 255.0) + 0.5) as u8
}

/// The pixels of a matrix: one byte each if it is gray, else three.
pub fn of_matrix(picture: &Picture<'_>) -> Vec<u8> {
    if picture.kind == Kind::Colours {
        // What is no number becomes black.
        let mut pixels = vec![0; 3 * picture.y.len()];
        for (pixel, &value) in pixels.as_chunks_mut().0.iter_mut().zip(picture.y) {
            let [_, colour @ ..] = (value as u32).to_be_bytes();
            *pixel = colour;
        }
        return pixels;
    }
    let scale = Scale::of(picture.y.iter().copied());
    if picture.kind == Kind::Gray {
        return picture.y.iter().map(|&value| level(scale.part(value) * 255.0)).collect();
    }
    let map: Vec<Colour> = (0..=STEPS).map(|step| at(step as f64 / STEPS as f64)).collect();
    let mut pixels = vec![0; 3 * picture.y.len()];
    let (chunks, _) = pixels.as_chunks_mut::<3>();
    for (pixel, &value) in chunks.iter_mut().zip(picture.y) {
        // What is no number is step 0 here, and looked at again.
        let step = (scale.part(value) * STEPS as f64 + 0.5) as usize;
        *pixel = if value.is_nan() { NONE } else { map[step.min(STEPS)] };
    }
    pixels
}
