//! Closest points of particles, threads and triangles (Ericson, Real-Time
//! Collision Detection, 2005, ch. 5).

use crate::solver::vector::Vector;

/// Weights of a, b and c at the point of their triangle that is nearest to `p`.
pub(super) fn on_triangle<V: Vector>(p: V, [a, b, c]: [V; 3]) -> [f32; 3] {
    let (ab, ac) = (b - a, c - a);
    let (d1, d2) = (ab.dot(p - a), ac.dot(p - a));
    if d1 <= 0.0 && d2 <= 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let (d3, d4) = (ab.dot(p - b), ac.dot(p - b));
    if d3 >= 0.0 && d4 <= d3 {
        return [0.0, 1.0, 0.0];
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let v = d1 / (d1 - d3);
        return [1.0 - v, v, 0.0];
    }
    let (d5, d6) = (ab.dot(p - c), ac.dot(p - c));
    if d6 >= 0.0 && d5 <= d6 {
        return [0.0, 0.0, 1.0];
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let w = d2 / (d2 - d6);
        return [1.0 - w, 0.0, w];
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        let w = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return [0.0, 1.0 - w, w];
    }
    let sum = va + vb + vc;
    // A triangle without area was caught above but for rounding.
    if sum > 0.0 { [va / sum, vb / sum, vc / sum] } else { [1.0, 0.0, 0.0] }
}

/// The part of the way from `a` to `b` at the point nearest to `p`.
pub(super) fn on_segment<V: Vector>(p: V, a: V, b: V) -> f32 {
    let ab = b - a;
    let squared = ab.length_squared();
    if squared > 0.0 { ((p - a).dot(ab) / squared).clamp(0.0, 1.0) } else { 0.0 }
}

/// The parts of the ways from `a` to `b` and from `c` to `d` at the points
/// that are nearest to each other.
pub(super) fn of_segments<V: Vector>(a: V, b: V, c: V, d: V) -> [f32; 2] {
    let (u, v, r) = (b - a, d - c, a - c);
    let (uu, vv, uv) = (u.length_squared(), v.length_squared(), u.dot(v));
    let (ur, vr) = (u.dot(r), v.dot(r));
    let divisor = uu * vv - uv * uv;
    // Along parallel ones every point will do.
    let parallel = divisor <= 1e-6 * uu * vv;
    let s = if parallel { 0.5 } else { ((uv * vr - ur * vv) / divisor).clamp(0.0, 1.0) };
    let t = on_segment(a + u * s, c, d);
    [on_segment(c + v * t, a, b), t]
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy_math::Vec3;

    #[test]
    fn closest_points_are_those_of_a_dense_search() {
        let mut seed = 0;
        let mut point = || {
            seed += 2;
            let length = 0.2 + (seed % 7) as f32 * 0.2;
            <Vec3 as Vector>::direction(seed) * length
        };
        for _ in 0..200 {
            let [p, a, b, c] = core::array::from_fn(|_| point());
            let [wa, wb, wc] = on_triangle(p, [a, b, c]);
            assert!(wa >= 0.0 && wb >= 0.0 && wc >= 0.0 && (wa + wb + wc - 1.0).abs() < 1e-5);
            let found = p.distance(a * wa + b * wb + c * wc);
            let [s, t] = of_segments(p, a, b, c);
            let apart = p.lerp(a, s).distance(b.lerp(c, t));
            for i in 0..=20 {
                for j in 0..=20 {
                    let (x, y) = (i as f32 / 20.0, j as f32 / 20.0);
                    if x + y <= 1.0 {
                        let other = a + (b - a) * x + (c - a) * y;
                        assert!(found <= p.distance(other) + 1e-4);
                    }
                    assert!(apart <= p.lerp(a, x).distance(b.lerp(c, y)) + 1e-3);
                }
            }
        }
    }
}
