//! Particles as PLY files.

use super::ParticleTable;

/// The properties of a vertex in their order, a row of ten numbers of four bytes.
const PROPERTIES: [(&str, &str); 10] = [
    ("float", "x"),
    ("float", "y"),
    ("float", "z"),
    ("float", "vx"),
    ("float", "vy"),
    ("float", "vz"),
    ("float", "density"),
    ("float", "pressure"),
    ("uint", "id"),
    ("uint", "fluid"),
];

impl ParticleTable {
    /// The particles as the bytes of a binary PLY file: a vertex for each with `x`, `y`, `z` (m),
    /// `vx`, `vy`, `vz` (m/s), `density` (kg/m³, in 2D kg/m²), `pressure` (Pa), `id` and `fluid`.
    pub fn ply(&self) -> Vec<u8> {
        let mut header = "ply\nformat binary_little_endian 1.0\ncomment SI units\n".to_owned();
        header += &format!("element vertex {}\n", self.len());
        for (kind, name) in PROPERTIES {
            header += &format!("property {kind} {name}\n");
        }
        header += "end_header\n";
        let mut bytes = header.into_bytes();
        bytes.reserve(4 * PROPERTIES.len() * self.len());
        for index in 0..self.len() {
            let vectors = [self.positions[index], self.velocities[index]];
            let scalars = [self.densities[index], self.pressures[index]];
            for real in vectors.as_flattened().iter().chain(&scalars) {
                bytes.extend(real.to_le_bytes());
            }
            for whole in [self.ids[index], self.fluids[index]] {
                bytes.extend(whole.to_le_bytes());
            }
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::super::particle_table::tests::table;

    #[test]
    fn header_and_rows_agree() {
        let table = table();
        let bytes = table.ply();
        let end = b"end_header\n";
        let start = bytes.windows(end.len()).position(|part| part == end).unwrap() + end.len();
        let header = str::from_utf8(&bytes[..start]).unwrap();
        assert!(header.starts_with("ply\nformat binary_little_endian 1.0\n"));
        assert!(header.contains("element vertex 40\nproperty float x\n"));
        let properties: Vec<&str> = header
            .lines()
            .filter_map(|line| line.strip_prefix("property "))
            .map(|line| line.split_once(' ').unwrap().1)
            .collect();
        let rows = bytes[start..].as_chunks::<40>();
        assert_eq!((rows.0.len(), rows.1.len(), properties.len()), (40, 0, 10));
        let column = |name: &str| {
            let place = properties.iter().position(|property| *property == name).unwrap();
            rows.0.iter().map(move |row| row.as_chunks::<4>().0[place])
        };
        let real = |name: &str| column(name).map(f32::from_le_bytes).collect::<Vec<_>>();
        for (axis, [place, speed]) in [["x", "vx"], ["y", "vy"], ["z", "vz"]].iter().enumerate() {
            let of = |vectors: &[[f32; 3]]| vectors.iter().map(|v| v[axis]).collect::<Vec<_>>();
            assert_eq!(real(place), of(&table.positions));
            assert_eq!(real(speed), of(&table.velocities));
        }
        assert_eq!(real("density"), table.densities);
        assert_eq!(real("pressure"), table.pressures);
        assert!(column("id").map(u32::from_le_bytes).eq(table.ids.iter().copied()));
        assert!(column("fluid").map(u32::from_le_bytes).eq(table.fluids.iter().copied()));
    }
}
