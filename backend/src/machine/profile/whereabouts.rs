//! Where a machine is, for whoever looks at it from another thread while it runs.

use nesl_span::{FileId, Span};
use nesl_vcode::{Place, SiteId};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The place of the instruction that runs. Noting one costs two stores; who reads may see the file and line of one
/// instruction with the calls around another.
#[derive(Debug)]
pub struct Whereabouts {
    /// File and offset.
    at: AtomicU64,
    /// The number of the site, after 0 for none.
    within: AtomicU64,
}

/// No file has so high a number.
const NOWHERE: u64 = u64::MAX;

impl Default for Whereabouts {
    fn default() -> Whereabouts {
        Whereabouts { at: AtomicU64::new(NOWHERE), within: AtomicU64::new(0) }
    }
}

impl Whereabouts {
    /// An instruction at this place begins.
    pub fn note(&self, place: Place) {
        self.at.store(u64::from(place.span.file.0) << 32 | u64::from(place.span.start), Relaxed);
        self.within.store(place.within.map_or(0, |site| u64::from(site.0) + 1), Relaxed);
    }

    /// Where the instruction that began last is; none before the first.
    pub fn place(&self) -> Option<Place> {
        let (at, within) = (self.at.load(Relaxed), self.within.load(Relaxed));
        let (file, start) = (FileId((at >> 32) as u32), at as u32);
        let within = within.checked_sub(1).map(|site| SiteId(site as u32));
        (at != NOWHERE).then_some(Place { span: Span { file, start, end: start }, within })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_place_is_found_again() {
        let whereabouts = Whereabouts::default();
        assert_eq!(whereabouts.place(), None);
        let span = Span::new(FileId(7), 12, 12);
        for place in [Place { span, within: Some(SiteId(3)) }, Place { span, within: None }] {
            whereabouts.note(place);
            assert_eq!(whereabouts.place(), Some(place));
        }
    }
}
