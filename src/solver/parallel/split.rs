//! Sequences that can be cut in two, so that threads can share them.

use core::ops::Range;

use super::CHUNK;

/// A sequence of items that can be cut in two.
///
/// What iterators do not offer: each thread gets a stretch of its own, and
/// takes from the end of another's when it is done.
pub(crate) trait Split: Sized + Send {
    /// What there is a sequence of.
    type Item;

    /// Number of items.
    fn len(&self) -> usize;

    /// The first `count` items, which must be there, and the others.
    fn split_at(self, count: usize) -> (Self, Self);

    /// The first item, which must be there.
    fn first(self) -> Self::Item;
}

impl<'a, T: Sync> Split for &'a [T] {
    type Item = &'a T;

    fn len(&self) -> usize {
        <[T]>::len(self)
    }

    fn split_at(self, count: usize) -> (Self, Self) {
        <[T]>::split_at(self, count)
    }

    fn first(self) -> &'a T {
        &self[0]
    }
}

impl<'a, T: Send> Split for &'a mut [T] {
    type Item = &'a mut T;

    fn len(&self) -> usize {
        <[T]>::len(self)
    }

    fn split_at(self, count: usize) -> (Self, Self) {
        self.split_at_mut(count)
    }

    fn first(self) -> &'a mut T {
        &mut self[0]
    }
}

impl Split for Range<usize> {
    type Item = usize;

    fn len(&self) -> usize {
        self.end - self.start
    }

    fn split_at(self, count: usize) -> (Self, Self) {
        let middle = self.start + count;
        (self.start..middle, middle..self.end)
    }

    fn first(self) -> usize {
        self.start
    }
}

/// The numbers of the items of another sequence, from zero.
pub(crate) fn numbers() -> Range<usize> {
    0..usize::MAX
}

/// A slice as chunks of [`CHUNK`] items, the last of which may be shorter.
pub(crate) struct Chunks<S>(S);

/// The chunks of a slice.
pub(crate) fn chunks<T>(slice: &[T]) -> Chunks<&[T]> {
    Chunks(slice)
}

/// The chunks of a slice, to be changed.
pub(crate) fn chunks_mut<T>(slice: &mut [T]) -> Chunks<&mut [T]> {
    Chunks(slice)
}

impl<'a, T: Sync> Split for Chunks<&'a [T]> {
    type Item = &'a [T];

    fn len(&self) -> usize {
        self.0.len().div_ceil(CHUNK)
    }

    fn split_at(self, count: usize) -> (Self, Self) {
        let (first, rest) = self.0.split_at((count * CHUNK).min(self.0.len()));
        (Self(first), Self(rest))
    }

    fn first(self) -> &'a [T] {
        &self.0[..CHUNK.min(self.0.len())]
    }
}

impl<'a, T: Send> Split for Chunks<&'a mut [T]> {
    type Item = &'a mut [T];

    fn len(&self) -> usize {
        self.0.len().div_ceil(CHUNK)
    }

    fn split_at(self, count: usize) -> (Self, Self) {
        let middle = (count * CHUNK).min(self.0.len());
        let (first, rest) = self.0.split_at_mut(middle);
        (Self(first), Self(rest))
    }

    fn first(self) -> &'a mut [T] {
        let end = CHUNK.min(self.0.len());
        &mut self.0[..end]
    }
}

/// Parts of a slice, one for each of a list of ranges that neither overlap nor go back.
pub(crate) struct PartsMut<'a, T, R> {
    slice: &'a mut [T],
    /// Index of the first item of `slice`.
    offset: usize,
    ranges: &'a [R],
    /// Start and end of a range.
    range: fn(&R) -> (u32, u32),
}

impl<'a, T, R> PartsMut<'a, T, R> {
    pub(crate) fn new(slice: &'a mut [T], ranges: &'a [R], range: fn(&R) -> (u32, u32)) -> Self {
        Self { slice, offset: 0, ranges, range }
    }
}

impl<'a, T: Send, R: Sync> Split for PartsMut<'a, T, R> {
    type Item = &'a mut [T];

    fn len(&self) -> usize {
        self.ranges.len()
    }

    fn split_at(self, count: usize) -> (Self, Self) {
        let Self { slice, offset, ranges, range } = self;
        let (first, rest) = ranges.split_at(count);
        let start = rest.first().map_or(offset + slice.len(), |next| range(next).0 as usize);
        let (slice, others) = slice.split_at_mut(start - offset);
        (
            Self { slice, offset, ranges: first, range },
            Self { slice: others, offset: start, ranges: rest, range },
        )
    }

    fn first(self) -> &'a mut [T] {
        let (start, end) = (self.range)(&self.ranges[0]);
        &mut self.slice[start as usize - self.offset..end as usize - self.offset]
    }
}

/// Two items at a time, or the last one alone.
pub(crate) struct Pairs<I>(pub(crate) I);

impl<I: Split> Split for Pairs<I> {
    type Item = (I::Item, Option<I::Item>);

    fn len(&self) -> usize {
        self.0.len().div_ceil(2)
    }

    fn split_at(self, count: usize) -> (Self, Self) {
        let middle = (2 * count).min(self.0.len());
        let (first, rest) = self.0.split_at(middle);
        (Self(first), Self(rest))
    }

    fn first(self) -> Self::Item {
        let (first, rest) = self.0.split_at(1);
        (first.first(), (rest.len() > 0).then(|| rest.first()))
    }
}

/// Sequences side by side, as far as the shortest of them goes.
macro_rules! side_by_side {
    ($($part:ident)*) => {
        #[allow(non_snake_case, reason = "a part is named as its type is")]
        impl<$($part: Split),*> Split for ($($part,)*) {
            type Item = ($($part::Item,)*);

            fn len(&self) -> usize {
                let ($($part,)*) = self;
                let mut len = usize::MAX;
                $(len = len.min($part.len());)*
                len
            }

            fn split_at(self, count: usize) -> (Self, Self) {
                let ($($part,)*) = self;
                $(let $part = $part.split_at(count);)*
                (($($part.0,)*), ($($part.1,)*))
            }

            fn first(self) -> Self::Item {
                let ($($part,)*) = self;
                ($($part.first(),)*)
            }
        }
    };
}

side_by_side!(A B);
side_by_side!(A B C);
side_by_side!(A B C D);
side_by_side!(A B C D E);
side_by_side!(A B C D E F);
side_by_side!(A B C D E F G);
side_by_side!(A B C D E F G H);
side_by_side!(A B C D E F G H I);

#[cfg(test)]
mod tests {
    use super::*;

    /// All items, cut at `cuts` in turn and taken from either end.
    fn items<I: Split>(mut sequence: I, cuts: &[usize]) -> Vec<I::Item> {
        let mut items = Vec::new();
        for &cut in cuts {
            let (first, rest) = sequence.split_at(cut);
            items.extend(all(first));
            sequence = rest;
        }
        items.extend(all(sequence));
        items
    }

    fn all<I: Split>(mut sequence: I) -> Vec<I::Item> {
        let mut items = Vec::new();
        while sequence.len() > 0 {
            let (rest, last) = {
                let end = sequence.len() - 1;
                sequence.split_at(end)
            };
            items.insert(0, last.first());
            sequence = rest;
        }
        items
    }

    #[test]
    fn chunks_are_those_of_the_slice_wherever_it_is_cut() {
        let mut values: Vec<usize> = (0..CHUNK * 5 + 7).collect();
        let expected: Vec<Vec<usize>> = values.chunks(CHUNK).map(<[usize]>::to_vec).collect();
        for cuts in [&[][..], &[0], &[2, 3], &[6], &[1, 0, 4]] {
            assert_eq!(items(chunks(&values), cuts), expected);
            assert_eq!(items(chunks_mut(&mut values), cuts), expected);
            let pairs =
                items(Pairs(chunks(&values)), &cuts.iter().map(|cut| cut / 2).collect::<Vec<_>>());
            assert_eq!(pairs.len(), 3);
            for (k, (first, second)) in pairs.into_iter().enumerate() {
                assert_eq!(
                    (first, second),
                    (&expected[2 * k][..], expected.get(2 * k + 1).map(|e| &e[..]))
                );
            }
        }
    }

    #[test]
    fn parts_are_those_of_the_ranges_and_leave_gaps_out() {
        let mut values: Vec<u32> = (0..20).collect();
        let ranges = [(1, 3), (3, 3), (7, 12), (12, 20)];
        for cuts in [&[][..], &[1], &[2, 2], &[4], &[0, 3]] {
            let parts = items(PartsMut::new(&mut values, &ranges, |&range| range), cuts);
            let expected: Vec<Vec<u32>> = ranges.iter().map(|&(a, b)| (a..b).collect()).collect();
            assert_eq!(parts, expected);
        }
    }

    #[test]
    fn sequences_side_by_side_end_with_the_shortest() {
        let (values, others) = ([5, 6, 7], [1, 2, 3, 4, 5]);
        for cuts in [&[][..], &[1], &[2, 1]] {
            let found = items((numbers(), &values[..], &others[..]), cuts);
            assert_eq!(found, [(0, &5, &1), (1, &6, &2), (2, &7, &3)]);
        }
    }
}
