//! A particle's neighbours, compared once with the length of an array instead
//! of one by one.
//!
//! The sums over neighbours are so short that a comparison for each entry costs
//! as much as its arithmetic: without them a sweep in space takes 0.73 of the
//! time, and 0.72 of the instructions (`cargo bench --bench dfsph`).

use core::marker::PhantomData;

use super::lanes::WIDTH;

/// Sorted indices of a particle's neighbours, padded to pairs with its own.
///
/// Invariant: no index is below `lowest` or above `highest`.
#[derive(Clone, Copy, Debug)]
pub struct Listed<'a> {
    indices: &'a [u32],
    bounds: Bounds,
}

/// The least and the largest index that a list may hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bounds {
    lowest: u32,
    highest: u32,
}

impl Bounds {
    /// Those of one index.
    #[inline(always)]
    pub(crate) fn of(index: u32) -> Self {
        Self { lowest: index, highest: index }
    }

    /// Widened by others.
    #[inline(always)]
    pub(crate) fn and(self, other: Self) -> Self {
        self.with(other.lowest).with(other.highest)
    }

    /// Widened by an index.
    #[inline(always)]
    pub(crate) fn with(self, index: u32) -> Self {
        Self { lowest: self.lowest.min(index), highest: self.highest.max(index) }
    }
}

impl<'a> Listed<'a> {
    /// A list within bounds.
    ///
    /// # Safety
    /// Every index must be within the bounds, ends included.
    #[inline(always)]
    pub(crate) unsafe fn new(indices: &'a [u32], bounds: Bounds) -> Self {
        Self { indices, bounds }
    }

    /// The pairs of the list.
    #[inline(always)]
    pub(super) fn pairs(self) -> impl Iterator<Item = (usize, usize)> + 'a {
        let pairs = self.indices.as_chunks::<WIDTH>().0.iter();
        pairs.map(|&[a, b]| (a as usize, b as usize))
    }

    /// The list's entries of `values`, which begin with that of the particle `first`.
    ///
    /// # Panics
    /// If the bounds are not inside.
    #[inline(always)]
    pub(super) fn of<'v, T>(self, values: &'v [T], first: usize) -> Values<'v, T> {
        self.check(values.len(), first);
        Values { start: values.as_ptr().wrapping_sub(first), lifetime: PhantomData }
    }

    /// [`Listed::of`], to be changed.
    #[inline(always)]
    pub(super) fn of_mut<'v, T>(self, values: &'v mut [T], first: usize) -> ValuesMut<'v, T> {
        self.check(values.len(), first);
        ValuesMut { start: values.as_mut_ptr().wrapping_sub(first), lifetime: PhantomData }
    }

    #[inline(always)]
    fn check(self, len: usize, first: usize) {
        let Bounds { lowest, highest } = self.bounds;
        let inside = lowest as usize >= first && (highest as usize) < first + len;
        assert!(inside, "a list reaches beyond the particles");
    }
}

/// The entries of an array that belong to a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Values<'v, T> {
    /// Where the entry of particle 0 is, or would be.
    start: *const T,
    lifetime: PhantomData<&'v [T]>,
}

impl<T: Copy> Values<'_, T> {
    /// The entry of a particle.
    ///
    /// # Safety
    /// The particle must be in the list that these were made for.
    #[inline(always)]
    pub(super) unsafe fn get(&self, particle: usize) -> T {
        // SAFETY: the list is inside of the array, see `Listed::check`.
        unsafe { self.start.wrapping_add(particle).read() }
    }
}

/// The entries of an array that belong to a list, to be changed.
#[derive(Debug)]
pub(super) struct ValuesMut<'v, T> {
    start: *mut T,
    lifetime: PhantomData<&'v mut [T]>,
}

impl<T: Copy> ValuesMut<'_, T> {
    /// Replaces the entry of a particle by a function of it.
    ///
    /// # Safety
    /// The particle must be in the list that these were made for.
    #[inline(always)]
    pub(super) unsafe fn change(&mut self, particle: usize, by: impl FnOnce(T) -> T) {
        let entry = self.start.wrapping_add(particle);
        // SAFETY: the list is inside of the array, see `Listed::check`.
        unsafe { entry.write(by(entry.read())) }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A list of any indices.
    pub(in crate::solver) fn listed(indices: &[u32]) -> Listed<'_> {
        let (lowest, highest) = (indices.iter().min(), indices.iter().max());
        let bounds = Bounds { lowest: *lowest.unwrap(), highest: *highest.unwrap() };
        // SAFETY: the bounds are those of the indices.
        unsafe { Listed::new(indices, bounds) }
    }

    #[test]
    fn entries_are_those_of_the_listed() {
        let list = listed(&[7, 5, 9, 5]);
        let mut values = [50, 60, 70, 80, 90];
        let entries = list.of(&values, 5);
        // SAFETY: 5 and 9 are in the list.
        assert_eq!(unsafe { (entries.get(5), entries.get(9)) }, (50, 90));
        // SAFETY: 7 is in the list.
        unsafe { list.of_mut(&mut values, 5).change(7, |value| value + 1) };
        assert_eq!(values, [50, 60, 71, 80, 90]);
    }

    #[test]
    fn a_list_that_reaches_beyond_the_array_is_refused() {
        let list = listed(&[7, 5, 9, 5]);
        for (first, len) in [(6, 10), (5, 4), (0, 9), (10, 3)] {
            let refused = std::panic::catch_unwind(|| {
                let _ = list.of(&vec![0u8; len], first);
            });
            assert!(refused.is_err(), "{first} {len}");
        }
    }
}
