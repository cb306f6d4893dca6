//! Particles as VTK files.

use vtkio::model::{
    Attribute, Attributes, ByteOrder, DataSet, PolyDataPiece, Version, VertexNumbers, Vtk,
};

use super::{FrameError, ParticleTable};

impl ParticleTable {
    /// The particles as the bytes of a binary legacy VTK file, which ParaView, VisIt and Blender's
    /// add-ons read: a point and a vertex cell for each, with the point data `velocity` (m/s),
    /// `density` (kg/m³, in 2D kg/m²), `pressure` (Pa), `id` and `fluid`.
    ///
    /// # Errors
    ///
    /// [`FrameError::Encode`] if the encoder fails.
    pub fn vtk(&self) -> Result<Vec<u8>, FrameError> {
        let count = self.len() as u32;
        let scalars = |name: &str| Attribute::scalars(name, 1);
        let point = vec![
            Attribute::vectors("velocity").with_data(self.velocities.as_flattened().to_vec()),
            scalars("density").with_data(self.densities.clone()),
            scalars("pressure").with_data(self.pressures.clone()),
            scalars("id").with_data(self.ids.clone()),
            scalars("fluid").with_data(self.fluids.clone()),
        ];
        let vertices = (0..count).flat_map(|index| [1, index]).collect();
        let file = Vtk {
            version: Version::new_legacy(3, 0),
            title: "particles of bevy_fluid, SI units".to_owned(),
            byte_order: ByteOrder::BigEndian,
            file_path: None,
            data: DataSet::inline(PolyDataPiece {
                points: self.positions.as_flattened().to_vec().into(),
                verts: Some(VertexNumbers::Legacy { num_cells: count, vertices }),
                data: Attributes { point, cell: Vec::new() },
                ..PolyDataPiece::default()
            }),
        };
        let mut bytes = Vec::new();
        file.write_legacy(&mut bytes)
            .map_err(|error| FrameError::Encode { source: error.to_string().into() })?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use vtkio::model::{DataArray, Piece};

    use super::super::particle_table::tests::table;
    use super::*;

    #[test]
    fn a_reader_finds_every_number() {
        let table = table();
        let bytes = table.vtk().unwrap();
        let file = Vtk::parse_legacy_be(&bytes[..]).unwrap();
        let DataSet::PolyData { pieces, .. } = file.data else { panic!("{:?}", file.data) };
        let [Piece::Inline(piece)] = &pieces[..] else { panic!("{pieces:?}") };
        let positions: Vec<f32> = piece.points.clone().into_vec().unwrap();
        assert_eq!(positions, table.positions.as_flattened());
        assert_eq!(piece.verts.as_ref().unwrap().num_cells(), 40);
        let find = |name: &str| -> &DataArray {
            let mut arrays = piece.data.point.iter().filter_map(|attribute| match attribute {
                Attribute::DataArray(array) => Some(array),
                Attribute::Field { .. } => None,
            });
            arrays.find(|array| array.name == name).unwrap_or_else(|| panic!("{name} is missing"))
        };
        let real = |name: &str| find(name).data.clone().into_vec::<f32>().unwrap();
        let whole = |name: &str| find(name).data.clone().into_vec::<u32>().unwrap();
        assert_eq!(real("velocity"), table.velocities.as_flattened());
        assert_eq!(real("density"), table.densities);
        assert_eq!(real("pressure"), table.pressures);
        assert_eq!(whole("id"), table.ids);
        assert_eq!(whole("fluid"), table.fluids);
    }

    #[test]
    fn no_particles_are_a_file_too() {
        let bytes = ParticleTable::default().vtk().unwrap();
        assert!(bytes.starts_with(b"# vtk DataFile Version 3.0\n"));
        assert!(Vtk::parse_legacy_be(&bytes[..]).is_ok());
    }
}
