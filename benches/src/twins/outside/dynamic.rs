//! Dynamic programming, and searches that go back.

/// The edit distance of two texts, row by row.
pub fn edit_distance((a, b): &(Vec<u8>, Vec<u8>)) -> i64 {
    let mut row: Vec<i64> = (0..=b.len() as i64).collect();
    for i in 1..=a.len() {
        let mut diagonal = row[0];
        row[0] = i as i64;
        for j in 1..=b.len() {
            let replaced = diagonal + i64::from(a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = replaced.min(row[j].min(row[j - 1]) + 1);
        }
    }
    row[b.len()]
}

/// The greatest value for each weight.
pub fn knapsack((things, capacity): &(Vec<(i64, i64)>, usize)) -> Vec<i64> {
    let mut best = vec![0; capacity + 1];
    for &(weight, value) in things {
        for w in (weight as usize..=*capacity).rev() {
            best[w] = best[w].max(best[w - weight as usize] + value);
        }
    }
    best
}

/// The length of a longest increasing subsequence.
pub fn increasing(v: &[i64]) -> i64 {
    let mut ends = vec![0; v.len()];
    let mut n = 0;
    for &x in v {
        let (mut low, mut high) = (0, n);
        while low < high {
            let middle = (low + high) / 2;
            if ends[middle] < x {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        ends[low] = x;
        n = n.max(low + 1);
    }
    n as i64
}

/// A row of Pascal's triangle, modulo a prime.
pub fn pascal(&n: &usize) -> Vec<i64> {
    let mut row = vec![0; n + 1];
    row[0] = 1;
    for i in 1..=n {
        for j in (1..=i).rev() {
            row[j] = (row[j] + row[j - 1]) % 1_000_003;
        }
    }
    row
}

/// In how many ways n queens stand on a board.
pub fn queens(&n: &usize) -> i64 {
    fn count(board: &mut [i64], row: usize) -> i64 {
        let n = board.len();
        if row == n {
            return 1;
        }
        let mut solutions = 0;
        for column in 0..n as i64 {
            let mut safe = true;
            for i in 0..row {
                if board[i] == column || (board[i] - column).abs() == (row - i) as i64 {
                    safe = false;
                    break;
                }
            }
            if safe {
                board[row] = column;
                solutions += count(board, row + 1);
            }
        }
        solutions
    }
    count(&mut vec![0; n], 0)
}

/// All permutations of the numbers below n, in order.
pub fn permutations(&n: &usize) -> Vec<Vec<i64>> {
    fn extend(permutation: &mut Vec<i64>, used: &mut [bool], all: &mut Vec<Vec<i64>>) {
        if permutation.len() == used.len() {
            all.push(permutation.clone());
            return;
        }
        for x in 0..used.len() {
            if !used[x] {
                used[x] = true;
                permutation.push(x as i64);
                extend(permutation, used, all);
                permutation.pop();
                used[x] = false;
            }
        }
    }
    let mut all = Vec::new();
    extend(&mut Vec::new(), &mut vec![false; n], &mut all);
    all
}
