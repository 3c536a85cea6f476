//! What the pool keeps, what it gives back, and when.

use super::*;

const MIB: usize = 1 << 20;

fn free_bytes(pool: &Pool) -> usize {
    pool.shelves().free_bytes
}

/// A room of bytes, as an engine gets one.
fn room(pool: &Arc<Pool>, bytes: usize) -> Room<u8> {
    Room::recycled(pool, bytes).or_else(|| Room::fresh(pool, bytes, u64::MAX, Filling::Whole)).unwrap()
}

#[test]
fn classes_waste_less_than_a_quarter() {
    assert_eq!(class(1), Some(SMALLEST));
    let mut classes = std::collections::BTreeSet::new();
    for bytes in (SMALLEST..4 * SMALLEST).step_by(7) {
        let size = class(bytes).unwrap();
        assert!(size >= bytes && size - bytes <= bytes / 4, "{bytes} bytes in a block of {size}");
        assert_eq!(class(size), Some(size));
        classes.insert(size);
    }
    assert_eq!(classes.len(), 9);
    assert_eq!(class(usize::MAX), None);
    assert_eq!((class(2 * MIB), class(17 * MIB + 1)), (Some(2 * MIB), Some(17 * MIB + STEP)));
}

#[test]
fn blocks_are_aligned_and_handed_out_again() {
    let pool = Arc::new(Pool::default());
    for bytes in [SMALLEST + 2, MIB, 3 * MIB, 9 * MIB] {
        let mut first = room(&pool, bytes);
        first.fill_rest(7);
        let start = first.as_ptr() as usize;
        assert_eq!(start % if bytes > 2 * MIB { 2 * MIB } else { 64 }, 0, "{bytes} bytes");
        drop(first);
        // The same block, not for the same size.
        let second = room(&pool, bytes - 1);
        assert_eq!((second.as_ptr() as usize, second.capacity(), second.len()), (start, bytes - 1, 0));
    }
    let held = pool.held();
    pool.release_down_to(0);
    assert_eq!((free_bytes(&pool), pool.held()), (0, 0));
    // The smaller ones that were free are part of the largest.
    assert!((9 * MIB as u64..13 * MIB as u64).contains(&held), "{held} bytes");
}

#[test]
fn what_is_kept_is_bounded_by_the_recent_peak() {
    let pool = Arc::new(Pool::default());
    let peak: Vec<_> = (0..10).map(|_| room(&pool, 40 * MIB)).collect();
    drop(peak);
    assert_eq!(free_bytes(&pool), 400 * MIB, "all within the peak");
    // Those of other sizes may not fit into it everywhere; the oldest free memory goes where there is a sixteenth more.
    let others: Vec<_> = (0..3).map(|_| room(&pool, 130 * MIB)).collect();
    assert!(pool.held() <= 425 * MIB as u64);
    drop(others);
    // The peak is remembered through the next window, and then forgotten down to the spare.
    assert!(pool.begin_window());
    assert!(free_bytes(&pool) >= 400 * MIB);
    assert!(!pool.begin_window());
    assert!(free_bytes(&pool) <= SPARE && free_bytes(&pool) > SPARE - 4 * MIB);
    assert!(!pool.begin_window());
}

#[test]
fn room_that_is_left_over_goes_back() {
    let pool = Arc::new(Pool::default());
    let mut filtered = room(&pool, 8 * MIB);
    filtered.extend_with(3 * MIB - 5, 1);
    filtered.shrink();
    assert_eq!((filtered.len(), free_bytes(&pool), pool.held()), (3 * MIB - 5, 5 * MIB, 8 * MIB as u64));
    assert!(!filtered.is_half_empty());
    // Others get it, and all of it is one block again in the end.
    let other = room(&pool, 5 * MIB);
    assert_eq!((other.as_ptr() as usize - filtered.as_ptr() as usize, free_bytes(&pool)), (3 * MIB, 0));
    drop((filtered, other));
    assert_eq!((room(&pool, 8 * MIB).len(), pool.held()), (0, 8 * MIB as u64));
    let mut small = room(&pool, MIB);
    small.extend_with(10, 1);
    small.shrink();
    assert!(small.is_half_empty());
}

#[test]
fn blocks_in_use_are_not_given_back() {
    let pool = Arc::new(Pool::default());
    let mut held = room(&pool, 8 * MIB);
    held.extend_from_slice(&[1, 2, 3]);
    pool.begin_window();
    pool.begin_window();
    pool.release_down_to(0);
    assert_eq!((&held[..], pool.held()), (&[1, 2, 3][..], 8 * MIB as u64));
}

#[test]
#[cfg(target_os = "linux")]
fn free_memory_is_cut_and_joined() {
    let pool = Arc::new(Pool::default());
    let whole = room(&pool, 40 * MIB);
    let start = whole.as_ptr() as usize;
    drop(whole);
    let mut parts: Vec<_> = [10, 3, 20, 7].map(|size| room(&pool, size * MIB)).into();
    let starts: Vec<_> = parts.iter().map(|part| (part.as_ptr() as usize - start) / MIB).collect();
    assert_eq!((starts, pool.held()), (vec![0, 10, 13, 33], 40 * MIB as u64));
    parts.iter_mut().zip(1..).for_each(|(part, byte)| part.fill_rest(byte));
    assert!(parts.iter().zip(1..).all(|(part, byte)| part.iter().all(|&found| found == byte)));
    // In whatever order they come back; what is smallest and holds a block is cut.
    drop(parts.swap_remove(1));
    assert_eq!(room(&pool, 2 * MIB).as_ptr() as usize, start + 10 * MIB);
    while !parts.is_empty() {
        drop(parts.swap_remove(0));
    }
    assert_eq!(room(&pool, 40 * MIB).as_ptr() as usize, start);
}

#[test]
#[cfg(target_os = "linux")]
fn free_pieces_are_put_together_without_new_memory() {
    let pool = Arc::new(Pool::default());
    let mut parts: Vec<_> = [40, 8, 40, 8, 30].map(|size| room(&pool, size * MIB)).into();
    parts.iter_mut().zip(1..).for_each(|(part, byte)| part.fill_rest(byte));
    let kept = [parts.remove(1), parts.remove(2)];
    drop(parts);
    let bytes = 90 * MIB + 17;
    let mut whole = room(&pool, bytes);
    assert_eq!((pool.held(), free_bytes(&pool)), (126 * MIB as u64, 110 * MIB - class(bytes).unwrap()));
    // What was kept is what it was, and all of the new piece can be written.
    whole.fill_rest(9);
    assert!(whole.iter().all(|&byte| byte == 9));
    assert!(kept.iter().zip([2, 4]).all(|(part, byte)| part.iter().all(|&found| found == byte)));
    drop((whole, kept));
    assert_eq!(pool.held(), free_bytes(&pool) as u64);
    // More than there is free.
    let mut more = room(&pool, 200 * MIB);
    more.fill_rest(1);
    assert!(more.iter().all(|&byte| byte == 1));
}

#[test]
#[cfg(target_os = "linux")]
fn gathered_pages_are_those_that_were_there() {
    use block::{Block, HUGE_PAGE};
    let write = |size: usize, byte: u8| {
        let block = Block::new(size, Filling::Whole).unwrap();
        // SAFETY: the block has so many bytes, and is nobody else's.
        unsafe { block.start().as_ptr().write_bytes(byte, size) };
        block
    };
    let (first, second) = (write(2 * HUGE_PAGE, 3), write(4 * HUGE_PAGE, 5));
    let (rest, second) = second.cut(HUGE_PAGE);
    let whole = Block::gathered(vec![second, first], 7 * HUGE_PAGE, Filling::Whole).unwrap();
    // SAFETY: the block has so many bytes; those that were not written the kernel has cleared.
    let bytes = unsafe { std::slice::from_raw_parts(whole.start().as_ptr(), whole.size()) };
    let pages: Vec<u8> = bytes.chunks(HUGE_PAGE).map(|page| page[HUGE_PAGE - 1]).collect();
    assert_eq!(pages, [5, 5, 5, 3, 3, 0, 0]);
    drop((whole, rest));
}

#[test]
fn rooms_come_and_go_on_all_threads() {
    let pool = Arc::new(Pool::default());
    std::thread::scope(|scope| {
        for seed in 0..4u8 {
            let pool = &pool;
            scope.spawn(move || {
                let mut kept = Vec::new();
                for round in 0..200usize {
                    let mut room = room(pool, SMALLEST + (round * 7919 + usize::from(seed)) % (3 * MIB));
                    room.fill_rest(seed);
                    kept.push(room);
                    if kept.len() > 3 {
                        assert!(kept.swap_remove(round % 3).iter().all(|&byte| byte == seed));
                    }
                }
            });
        }
    });
    assert_eq!(pool.shelves().used_bytes, 0);
    assert_eq!(pool.held(), free_bytes(&pool) as u64);
}

#[test]
fn a_vector_keeps_its_memory() {
    let mut elements = Vec::with_capacity(10);
    elements.extend([1i64, 2, 3]);
    let start = elements.as_ptr();
    let mut room = Room::from(elements);
    assert_eq!((room.as_ptr(), room.capacity(), room.is_block()), (start, 10, false));
    room.push(4);
    room[0] = 9;
    assert_eq!(&room[..], [9, 2, 3, 4]);
    assert_eq!(&Room::<f64>::from(Vec::new())[..], [0.0; 0]);
}

#[test]
fn a_bound_frees_before_it_refuses() {
    let pool = Arc::new(Pool::default());
    let held = room(&pool, 8 * MIB);
    drop(room(&pool, 16 * MIB));
    let most = 20 * MIB as u64;
    assert!(Room::<u8>::fresh(&pool, 14 * MIB, most, Filling::Part).is_none());
    assert_eq!(free_bytes(&pool), 16 * MIB, "what is refused frees nothing");
    let other = Room::<u8>::fresh(&pool, 12 * MIB, most, Filling::Part).unwrap();
    assert_eq!((free_bytes(&pool), pool.held()), (0, most));
    drop((held, other));
}

#[test]
fn what_no_machine_has_is_refused_and_forgotten() {
    let pool = Arc::new(Pool::default());
    assert!(Room::<i64>::fresh(&pool, usize::MAX, u64::MAX, Filling::Part).is_none());
    assert!(Room::<i64>::fresh(&pool, usize::MAX / 32, u64::MAX, Filling::Part).is_none());
    assert_eq!((pool.held(), pool.shelves().peaks[0]), (0, 0));
}

#[test]
fn a_block_has_room_beside_the_elements_where_its_size_leaves_some() {
    let pool = Arc::new(Pool::default());
    let mut wide = room(&pool, 3 * MIB - 200);
    assert_eq!((wide.first(), wide.reach(), wide.as_ptr() as usize % 64), (64, 3 * MIB, 0));
    wide.fill_rest(7);
    // SAFETY: nobody else has the room; what is read has been written.
    let all = unsafe {
        wide.write(62, &[1, 2]);
        wide.write(3 * MIB - 136, &[3]);
        wide.range(62..3 * MIB - 135)
    };
    assert_eq!((all.len(), &all[..3], &all[3 * MIB - 199..]), (3 * MIB - 197, &[1, 2, 7][..], &[7, 3][..]));
    wide.clear();
    wide.extend_with(MIB, 1);
    wide.shrink();
    assert_eq!((wide.len(), wide.first(), wide.reach()), (MIB, 64, MIB + STEP));
    let full = room(&pool, 3 * MIB);
    assert_eq!((full.first(), full.reach()), (0, 3 * MIB));
}

#[test]
fn shorter_and_shorter_rooms_take_blocks_that_are_free() {
    let pool = Arc::new(Pool::default());
    (40..=MIB / 1024).rev().for_each(|kibibytes| drop(room(&pool, kibibytes << 10)));
    assert!(pool.held() < 2 * MIB as u64, "{} bytes", pool.held());
}
