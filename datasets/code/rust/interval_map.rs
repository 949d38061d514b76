//! A map from half-open intervals to values, where later insertions win.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

#[derive(Clone, Default, PartialEq, Eq)]
pub struct IntervalMap<V> {
    /// Start of each interval → (end, value); intervals never overlap.
    parts: BTreeMap<u64, (u64, V)>,
}

impl<V: Clone + PartialEq> IntervalMap<V> {
    pub fn new() -> Self {
        Self { parts: BTreeMap::new() }
    }

    pub fn insert(&mut self, range: Range<u64>, value: V) {
        if range.is_empty() {
            return;
        }
        self.split_at(range.start);
        self.split_at(range.end);
        let covered: Vec<u64> = self.parts.range(range.clone()).map(|(&start, _)| start).collect();
        for start in covered {
            self.parts.remove(&start);
        }
        self.parts.insert(range.start, (range.end, value));
    }

    pub fn get(&self, point: u64) -> Option<&V> {
        let (_, (end, value)) = self.parts.range(..=point).next_back()?;
        (point < *end).then_some(value)
    }

    fn split_at(&mut self, point: u64) {
        let Some((&start, (end, value))) = self.parts.range(..point).next_back() else {
            return;
        };
        if *end > point {
            let (end, value) = (*end, value.clone());
            self.parts.insert(start, (point, value.clone()));
            self.parts.insert(point, (end, value));
        }
    }
}

impl<V: fmt::Debug> fmt::Debug for IntervalMap<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.parts.iter().map(|(s, (e, v))| (*s..*e, v))).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_insertions_win() {
        let mut map = IntervalMap::new();
        map.insert(0..10, "night");
        map.insert(6..8, "dawn");
        assert_eq!(map.get(5), Some(&"night"));
        assert_eq!(map.get(7), Some(&"dawn"));
        assert_eq!(map.get(9), Some(&"night"));
        assert_eq!(map.get(10), None);
    }
}
