//! Sorts, written out.

/// Merge sort, from both halves.
pub fn merge_sort(v: &[i64]) -> Vec<i64> {
    fn sort(v: &mut [i64], buffer: &mut [i64]) {
        let n = v.len();
        if n < 2 {
            return;
        }
        let middle = n - n / 2;
        sort(&mut v[..middle], buffer);
        sort(&mut v[middle..], buffer);
        buffer[..n].copy_from_slice(v);
        let (mut i, mut j) = (0, middle);
        for k in 0..n {
            if j == n || (i < middle && buffer[i] <= buffer[j]) {
                v[k] = buffer[i];
                i += 1;
            } else {
                v[k] = buffer[j];
                j += 1;
            }
        }
    }
    let mut sorted = v.to_vec();
    sort(&mut sorted, &mut vec![0; v.len()]);
    sorted
}

/// Twenty passes, one for each bit.
pub fn radix_sort(v: &[i64]) -> Vec<i64> {
    let mut v = v.to_vec();
    let mut sorted = vec![0; v.len()];
    for bit in 0..20 {
        let mut at = 0;
        for wanted in [0, 1] {
            for i in 0..v.len() {
                if (v[i] >> bit) & 1 == wanted {
                    sorted[at] = v[i];
                    at += 1;
                }
            }
        }
        std::mem::swap(&mut v, &mut sorted);
    }
    v
}
