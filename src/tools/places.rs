//! Where a change came, in words.

/// Places that are named one by one.
const NAMED: usize = 5;

/// `line 3`, `lines 2-3, 7`, `lines 1, 2, 3, 4, 5 and further on`: first and last line of each place, from 1.
pub fn places(lines: &[(usize, usize)]) -> String {
    let named: Vec<String> = lines
        .iter()
        .take(NAMED)
        .map(|(first, last)| {
            if first == last {
                first.to_string()
            } else {
                format!("{first}-{last}")
            }
        })
        .collect();
    let word = match lines {
        [(first, last)] if first == last => "line",
        _ => "lines",
    };
    let more = if lines.len() > NAMED {
        " and further on"
    } else {
        ""
    };
    format!("{word} {}{more}", named.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_or_many() {
        assert_eq!(places(&[(3, 3)]), "line 3");
        assert_eq!(places(&[(2, 4), (7, 7)]), "lines 2-4, 7");
        assert_eq!(
            places(&[(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6)]),
            "lines 1, 2, 3, 4, 5 and further on"
        );
    }
}
