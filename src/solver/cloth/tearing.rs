//! Constraints that give way, and cuts.

use super::Cloth;
use crate::solver::error::FluidError;
use crate::solver::vector::Vector;

impl<V: Vector> Cloth<V> {
    /// Removes the constraints and triangles that cross a plane within
    /// `radius` metres of `point`, a point of the plane: a cut by a blade of
    /// that size. Returns the number of constraints removed.
    ///
    /// # Errors
    /// [`FluidError::Parameter`] for a point that is not finite, a normal
    /// without a direction, or a radius that is not positive.
    pub fn cut(&mut self, point: V, normal: V, radius: f32) -> Result<usize, FluidError> {
        if !point.is_finite() {
            return Err(FluidError::parameter("point", point, "finite components, m"));
        }
        if !(normal.is_finite() && normal.length() > 0.0) {
            return Err(FluidError::parameter("normal", normal, "a vector with a direction"));
        }
        if !(radius > 0.0) {
            return Err(FluidError::parameter("radius", radius, "above 0 m"));
        }
        let x = &self.positions;
        let crossed = |a: u32, b: u32| {
            let [a, b] = [a, b].map(|end| x[end as usize]);
            let [from, to] = [a, b].map(|end| (end - point).dot(normal));
            if (from > 0.0) == (to > 0.0) {
                return false;
            }
            // The place where the plane is crossed; the ends differ.
            let crossing = a + (b - a) * (from / (from - to));
            (crossing - point).length() <= radius
        };
        let before = self.constraints.len();
        self.constraints.retain(|constraint| !crossed(constraint.a, constraint.b));
        self.triangles.retain(|&[a, b, c]| !(crossed(a, b) || crossed(b, c) || crossed(c, a)));
        let cut = before - self.constraints.len();
        self.stale |= cut > 0;
        Ok(cut)
    }

    /// Removes what is stretched beyond
    /// [`tear_strain`](super::ClothSettings::tear_strain), and the triangles on both sides.
    pub(super) fn tear(&mut self) {
        let limit = 1.0 + self.settings.tear_strain;
        let x = &self.positions;
        let over = |a: u32, b: u32, rest_length: f32| {
            (x[a as usize] - x[b as usize]).length() > limit * rest_length
        };
        if !self.constraints.iter().any(|c| over(c.a, c.b, c.rest_length)) {
            return;
        }
        let mut torn = Vec::new();
        self.constraints.retain(|c| {
            let tears = over(c.a, c.b, c.rest_length);
            if tears {
                torn.push([c.a.min(c.b), c.a.max(c.b)]);
            }
            !tears
        });
        torn.sort_unstable();
        let torn_edge = |a: u32, b: u32| torn.binary_search(&[a.min(b), a.max(b)]).is_ok();
        self.triangles
            .retain(|&[a, b, c]| !(torn_edge(a, b) || torn_edge(b, c) || torn_edge(c, a)));
        self.stats.torn = torn.len();
        self.stale = true;
    }
}
