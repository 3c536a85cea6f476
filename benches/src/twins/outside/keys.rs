//! Values that are counted, grouped or looked up by keys.

/// A number for some bytes.
pub fn hash_bytes(bytes: &[u8]) -> usize {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for &byte in bytes {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    (hash ^ (hash >> 32)) as usize
}

/// How often each value below a limit occurs, in the order of first occurrence.
pub fn histogram(v: &[i64], limit: usize) -> Vec<(i64, i64)> {
    let mut counts = vec![0; limit];
    let mut order = Vec::new();
    for &x in v {
        if counts[x as usize] == 0 {
            order.push(x);
        }
        counts[x as usize] += 1;
    }
    order.iter().map(|&x| (x, counts[x as usize])).collect()
}

/// The different values, in the order of first occurrence, by a table with open addresses.
pub fn duplicates(v: &[i64]) -> Vec<i64> {
    let mask = (2 * v.len()).next_power_of_two() - 1;
    let mut slots = vec![usize::MAX; mask + 1];
    let mut kept = Vec::new();
    for &x in v {
        let mut slot = ((x as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask;
        while slots[slot] != usize::MAX && kept[slots[slot]] != x {
            slot = (slot + 1) & mask;
        }
        if slots[slot] == usize::MAX {
            slots[slot] = kept.len();
            kept.push(x);
        }
    }
    kept
}

/// The mean of the values of each key below a limit, in the order of the keys.
pub fn group_means(pairs: &[(i64, f64)], limit: usize) -> Vec<(i64, f64)> {
    let (mut sums, mut counts) = (vec![0.0; limit], vec![0usize; limit]);
    for &(key, value) in pairs {
        sums[key as usize] += value;
        counts[key as usize] += 1;
    }
    let mut means = Vec::new();
    for key in 0..limit {
        if counts[key] > 0 {
            means.push((key as i64, sums[key] / counts[key] as f64));
        }
    }
    means
}

/// The runs of equal elements, each with its length.
pub fn run_length(v: &[i64]) -> Vec<(i64, i64)> {
    let mut runs = Vec::new();
    let mut start = 0;
    for i in 1..=v.len() {
        if i == v.len() || v[i] != v[start] {
            runs.push((v[start], (i - start) as i64));
            start = i;
        }
    }
    runs
}

/// Where values would stand in a sorted table.
pub fn binary_search((table, values): &(Vec<i64>, Vec<i64>)) -> Vec<usize> {
    let mut places = vec![0; values.len()];
    for i in 0..values.len() {
        let (mut low, mut high) = (0, table.len());
        while low < high {
            let middle = (low + high) / 2;
            if table[middle] < values[i] {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        places[i] = low;
    }
    places
}
