//! Eight numbers at a time, by the instructions that the machine has.
//!
//! What is computed is the same bit for bit on every [`Machine`]: none fuses a
//! multiplication with an addition, and sums over lanes have one order.
//!
//! Against the plain instructions AVX2 takes a whole step, with two sweeps in each
//! solve, to 0.74 of the time in the plane and 0.70 in space.

use core::fmt::Debug;
use core::ops::{Add, AddAssign, Div, Mul, Sub};

use bevy_math::Vec4;

/// Numbers in a group.
pub(crate) const EIGHT: usize = 8;

/// For each mask of eight lanes those that it names, packed to the front.
static PACKED: [[u32; EIGHT]; 1 << EIGHT] = {
    let mut table = [[0; EIGHT]; 1 << EIGHT];
    let mut mask = 0;
    while mask < table.len() {
        let (mut lane, mut count) = (0, 0);
        while lane < EIGHT {
            if mask & (1 << lane) != 0 {
                table[mask][count] = lane as u32;
                count += 1;
            }
            lane += 1;
        }
        mask += 1;
    }
    table
};

/// The lanes that a mask of eight names, packed to the front.
#[inline(always)]
fn packed(mask: u32) -> &'static [u32; EIGHT] {
    &PACKED[mask as usize % PACKED.len()]
}

/// Work that is compiled for each machine.
pub trait Task {
    /// Does it; to be inlined always.
    fn run<M: Machine>(self, machine: M);
}

/// Does a task by the widest instructions that the machine has.
#[inline]
pub(crate) fn run(task: impl Task) {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = Avx2::detect() {
        return avx2.run(task);
    }
    Plain.run(task);
}

/// Instructions for groups of eight. A value of this type exists only where
/// the machine has them.
pub trait Machine: Copy {
    /// Eight numbers.
    type Eight: Eight;

    /// Does a task.
    fn run(self, task: impl Task);

    /// The same number eight times.
    fn splat(self, value: f32) -> Self::Eight;

    /// The numbers of an array.
    fn load(self, values: &[f32; EIGHT]) -> Self::Eight;

    /// The numbers that a mask names, packed to the front, and any behind them.
    fn pack(self, values: Self::Eight, mask: u32) -> [f32; EIGHT];

    /// As [`Machine::pack`], of whole numbers.
    fn pack_indices(self, values: &[u32; EIGHT], mask: u32) -> [u32; EIGHT];

    /// The numbers as an array.
    fn store(self, values: Self::Eight) -> [f32; EIGHT];

    /// The numbers of both groups by turns.
    fn interleave(self, a: Self::Eight, b: Self::Eight) -> [f32; 2 * EIGHT];

    /// The numbers, none (NaN) in the place of those whose index is `own`.
    fn except(self, values: Self::Eight, indices: &[u32; EIGHT], own: u32) -> Self::Eight;

    /// The sums of four groups each.
    fn sums(self, groups: [Self::Eight; 4]) -> [f32; 4];
}

/// Eight numbers.
pub trait Eight:
    Copy
    + Debug
    + Add<Output = Self>
    + AddAssign
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
{
    /// Square roots.
    fn sqrt(self) -> Self;

    /// The larger of two numbers each, the second one if either is none.
    fn max(self, other: Self) -> Self;

    /// The smaller of two numbers each, the second one if either is none.
    fn min(self, other: Self) -> Self;

    /// Mask of those that are less than others.
    fn less(self, other: Self) -> u32;
}

/// What every machine has.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

/// Two halves of eight numbers.
#[derive(Clone, Copy, Debug)]
pub struct Halves([Vec4; 2]);

impl Machine for Plain {
    type Eight = Halves;

    #[inline]
    fn run(self, task: impl Task) {
        task.run(self);
    }

    #[inline(always)]
    fn splat(self, value: f32) -> Halves {
        Halves([Vec4::splat(value); 2])
    }

    #[inline(always)]
    fn load(self, &[a, b, c, d, e, f, g, h]: &[f32; EIGHT]) -> Halves {
        Halves([Vec4::new(a, b, c, d), Vec4::new(e, f, g, h)])
    }

    #[inline(always)]
    fn pack(self, values: Halves, mask: u32) -> [f32; EIGHT] {
        let values = self.store(values);
        packed(mask).map(|lane| values[lane as usize % EIGHT])
    }

    #[inline(always)]
    fn pack_indices(self, values: &[u32; EIGHT], mask: u32) -> [u32; EIGHT] {
        packed(mask).map(|lane| values[lane as usize % EIGHT])
    }

    #[inline(always)]
    fn store(self, Halves([low, high]): Halves) -> [f32; EIGHT] {
        let ([a, b, c, d], [e, f, g, h]) = (low.to_array(), high.to_array());
        [a, b, c, d, e, f, g, h]
    }

    #[inline(always)]
    fn interleave(self, a: Halves, b: Halves) -> [f32; 2 * EIGHT] {
        let (a, b) = (self.store(a), self.store(b));
        core::array::from_fn(|at| if at.is_multiple_of(2) { a[at / 2] } else { b[at / 2] })
    }

    #[inline(always)]
    fn except(self, values: Halves, indices: &[u32; EIGHT], own: u32) -> Halves {
        let mut values = self.store(values);
        for (value, &index) in values.iter_mut().zip(indices) {
            *value = if index == own { f32::NAN } else { *value };
        }
        self.load(&values)
    }

    #[inline(always)]
    fn sums(self, groups: [Halves; 4]) -> [f32; 4] {
        // In the order of the horizontal additions that other machines have.
        groups.map(|group| {
            let [a, b, c, d, e, f, g, h] = self.store(group);
            ((a + b) + (c + d)) + ((e + f) + (g + h))
        })
    }
}

impl Halves {
    #[inline(always)]
    fn with(self, other: Self, work: impl Fn(Vec4, Vec4) -> Vec4) -> Self {
        let (Self([a, b]), Self([c, d])) = (self, other);
        Self([work(a, c), work(b, d)])
    }
}

impl Add for Halves {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.with(other, |a, b| a + b)
    }
}

impl AddAssign for Halves {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Halves {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.with(other, |a, b| a - b)
    }
}

impl Mul for Halves {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.with(other, |a, b| a * b)
    }
}

impl Div for Halves {
    type Output = Self;
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.with(other, |a, b| a / b)
    }
}

impl Eight for Halves {
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0.map(|half| Vec4::from_array(half.to_array().map(f32::sqrt))))
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.with(other, Vec4::max)
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.with(other, |a, b| {
            let (a, b) = (a.to_array(), b.to_array());
            Vec4::from_array(core::array::from_fn(|k| if a[k] < b[k] { a[k] } else { b[k] }))
        })
    }

    #[inline(always)]
    fn less(self, other: Self) -> u32 {
        let (Self([a, b]), Self([c, d])) = (self, other);
        a.cmplt(c).bitmask() | b.cmplt(d).bitmask() << 4
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::Avx2;

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use core::arch::x86_64::*;
    use core::mem::transmute;

    use super::*;

    /// AVX2 and the count of bits.
    #[derive(Clone, Copy, Debug)]
    pub struct Avx2(());

    /// Eight numbers in a register; they exist only where there is an [`Avx2`].
    #[derive(Clone, Copy, Debug)]
    pub struct Register(__m256);

    impl Avx2 {
        /// The instructions if the machine has them.
        pub(crate) fn detect() -> Option<Self> {
            let has = std::arch::is_x86_feature_detected!("avx2")
                && std::arch::is_x86_feature_detected!("popcnt");
            has.then_some(Self(()))
        }
    }

    #[target_feature(enable = "avx2,popcnt")]
    fn run<T: Task>(avx2: Avx2, task: T) {
        task.run(avx2);
    }

    impl Machine for Avx2 {
        type Eight = Register;

        // Inlined in another, a task would have to share the registers with it.
        #[inline(never)]
        fn run(self, task: impl Task) {
            // SAFETY: there is an `Avx2`.
            unsafe { run(self, task) }
        }

        #[inline(always)]
        fn splat(self, value: f32) -> Register {
            // SAFETY: there is an `Avx2`.
            Register(unsafe { _mm256_set1_ps(value) })
        }

        #[inline(always)]
        fn load(self, values: &[f32; EIGHT]) -> Register {
            // SAFETY: there is an `Avx2`, and eight numbers are read.
            Register(unsafe { _mm256_loadu_ps(values.as_ptr()) })
        }

        #[inline(always)]
        fn pack(self, values: Register, mask: u32) -> [f32; EIGHT] {
            // SAFETY: there is an `Avx2`; both types are eight numbers.
            unsafe { transmute(_mm256_permutevar8x32_ps(values.0, order(mask))) }
        }

        #[inline(always)]
        fn pack_indices(self, values: &[u32; EIGHT], mask: u32) -> [u32; EIGHT] {
            // SAFETY: there is an `Avx2`, eight numbers are read; both types are eight numbers.
            unsafe {
                let values = _mm256_loadu_si256(values.as_ptr().cast());
                transmute(_mm256_permutevar8x32_epi32(values, order(mask)))
            }
        }

        #[inline(always)]
        fn store(self, values: Register) -> [f32; EIGHT] {
            // SAFETY: both types are eight numbers.
            unsafe { transmute(values.0) }
        }

        #[inline(always)]
        fn interleave(self, a: Register, b: Register) -> [f32; 2 * EIGHT] {
            // SAFETY: there is an `Avx2`; both types are sixteen numbers.
            unsafe {
                let (low, high) = (_mm256_unpacklo_ps(a.0, b.0), _mm256_unpackhi_ps(a.0, b.0));
                transmute([
                    _mm256_permute2f128_ps::<0x20>(low, high),
                    _mm256_permute2f128_ps::<0x31>(low, high),
                ])
            }
        }

        #[inline(always)]
        fn except(self, values: Register, indices: &[u32; EIGHT], own: u32) -> Register {
            // SAFETY: there is an `Avx2`, and eight numbers are read.
            Register(unsafe {
                let indices = _mm256_loadu_si256(indices.as_ptr().cast());
                let same = _mm256_cmpeq_epi32(indices, _mm256_set1_epi32(own as i32));
                // All bits are no number.
                _mm256_or_ps(values.0, _mm256_castsi256_ps(same))
            })
        }

        #[inline(always)]
        fn sums(self, [a, b, c, d]: [Register; 4]) -> [f32; 4] {
            // SAFETY: there is an `Avx2`; both types are four numbers.
            unsafe {
                let (low, high) = (_mm256_hadd_ps(a.0, b.0), _mm256_hadd_ps(c.0, d.0));
                let both = _mm256_hadd_ps(low, high);
                let (low, high) = (_mm256_castps256_ps128(both), _mm256_extractf128_ps::<1>(both));
                transmute(_mm_add_ps(low, high))
            }
        }
    }

    /// The order that packs what a mask names to the front.
    ///
    /// # Safety
    /// There must be an [`Avx2`].
    #[inline(always)]
    unsafe fn order(mask: u32) -> __m256i {
        // SAFETY: as above; eight numbers are read.
        unsafe { _mm256_loadu_si256(packed(mask).as_ptr().cast()) }
    }

    impl Add for Register {
        type Output = Self;
        #[inline(always)]
        fn add(self, other: Self) -> Self {
            // SAFETY: there is an `Avx2`.
            Self(unsafe { _mm256_add_ps(self.0, other.0) })
        }
    }

    impl AddAssign for Register {
        #[inline(always)]
        fn add_assign(&mut self, other: Self) {
            *self = *self + other;
        }
    }

    impl Sub for Register {
        type Output = Self;
        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            // SAFETY: there is an `Avx2`.
            Self(unsafe { _mm256_sub_ps(self.0, other.0) })
        }
    }

    impl Mul for Register {
        type Output = Self;
        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            // SAFETY: there is an `Avx2`.
            Self(unsafe { _mm256_mul_ps(self.0, other.0) })
        }
    }

    impl Div for Register {
        type Output = Self;
        #[inline(always)]
        fn div(self, other: Self) -> Self {
            // SAFETY: there is an `Avx2`.
            Self(unsafe { _mm256_div_ps(self.0, other.0) })
        }
    }

    impl Eight for Register {
        #[inline(always)]
        fn sqrt(self) -> Self {
            // SAFETY: there is an `Avx2`.
            Self(unsafe { _mm256_sqrt_ps(self.0) })
        }

        #[inline(always)]
        fn max(self, other: Self) -> Self {
            // SAFETY: there is an `Avx2`.
            Self(unsafe { _mm256_max_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn min(self, other: Self) -> Self {
            // SAFETY: there is an `Avx2`.
            Self(unsafe { _mm256_min_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn less(self, other: Self) -> u32 {
            // SAFETY: there is an `Avx2`.
            unsafe { _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LT_OQ>(self.0, other.0)) as u32 }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything a machine computes from two groups.
    fn results<M: Machine>(machine: M, a: &[f32; 8], b: &[f32; 8], mask: u32) -> Vec<u32> {
        let (x, y) = (machine.load(a), machine.load(b));
        let indices = a.map(f32::to_bits);
        let hidden = machine.except(x, &indices, indices[mask as usize % EIGHT]);
        let groups = [x + y, x - y, x * y, x / y, x.sqrt(), x.max(y), x.min(y), hidden.min(y)];
        let groups = groups.iter().chain([&hidden]);
        let mut bits: Vec<u32> =
            groups.flat_map(|&group| machine.store(group).map(f32::to_bits)).collect();
        bits.extend([x.less(y), hidden.less(y), machine.splat(a[3]).less(y)]);
        bits.extend(machine.sums([x, y, x + y, x * y]).map(f32::to_bits));
        let count = mask.count_ones() as usize;
        bits.extend(machine.pack(x, mask)[..count].iter().map(|value| value.to_bits()));
        bits.extend(&machine.pack_indices(&indices, mask)[..count]);
        bits.extend(machine.interleave(x, y).map(f32::to_bits));
        bits.extend(machine.store(y).map(f32::to_bits));
        bits
    }

    fn groups() -> impl Iterator<Item = ([f32; 8], [f32; 8], u32)> {
        (0..256u32).map(|mask| {
            let a = [0.1, 2.5, f32::INFINITY, 1e-39, 3e38, 7.0, 0.0, 9.3].map(|a| a * 1.7);
            (a, a.map(|a| a * (0.7 + 0.01 * mask as f32) + 1e-3), mask)
        })
    }

    #[test]
    fn packed_lanes_are_those_of_the_mask() {
        for (a, b, mask) in groups() {
            let named: Vec<usize> = (0..8).filter(|lane| mask & (1 << lane) != 0).collect();
            let x = Plain.load(&a);
            let expected: Vec<f32> = named.iter().map(|&lane| a[lane]).collect();
            assert_eq!(Plain.pack(x, mask)[..named.len()], expected);
            assert_eq!(Plain.store(x), a);
            let expected: Vec<f32> = (0..8).flat_map(|lane| [a[lane], b[lane]]).collect();
            assert_eq!(Plain.interleave(x, Plain.load(&b))[..], expected);
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn wide_and_plain_instructions_give_the_same_bits() {
        let Some(wide) = Avx2::detect() else { return };
        for (a, b, mask) in groups() {
            // 0/0 and infinity less infinity are left out: what is no number may have any sign.
            let (plain, wide) = (results(Plain, &a, &b, mask), results(wide, &a, &b, mask));
            let number = |&bits: &u32| !f32::from_bits(bits).is_nan();
            let pairs = plain.iter().zip(&wide).filter(|(bits, _)| number(bits));
            for (plain, wide) in pairs {
                assert_eq!(plain, wide);
            }
        }
    }
}
