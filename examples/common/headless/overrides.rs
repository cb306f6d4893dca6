//! `--set path=value`: any field of a scene, reached by reflection.

use std::str::FromStr;

use bevy_fluid::solver::scene::{SceneFile, scene_types};
use bevy_reflect::enums::VariantInfo;
use bevy_reflect::serde::TypedReflectDeserializer;
use bevy_reflect::{
    ParsedPath, PartialReflect, Reflect, ReflectFromReflect, ReflectPath, ReflectRef, TypeInfo,
    TypeRegistry,
};

/// A field of a scene and the value it is to have.
#[derive(Clone, Debug)]
pub struct Override {
    path: String,
    value: String,
}

impl FromStr for Override {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((path, value)) if !path.trim().is_empty() => {
                Ok(Self { path: path.trim().into(), value: value.trim().into() })
            }
            _ => Err("allowed is PATH=VALUE, such as dfsph.relaxation=0.4".into()),
        }
    }
}

/// Overrides fields of a scene, one after the other, without a look at ranges.
///
/// The error names the path, the value and what could stand there.
pub fn apply(scene: &mut SceneFile, overrides: &[Override]) -> Result<(), String> {
    let registry = scene_types();
    for Override { path, value } in overrides {
        let set =
            field(scene.as_reflect_mut(), path).and_then(|field| replace(field, value, &registry));
        set.map_err(|reason| format!("--set {path}={value}: {reason}"))?;
    }
    Ok(())
}

/// The field that a path leads to.
fn field<'a>(scene: &'a mut dyn Reflect, path: &str) -> Result<&'a mut dyn Reflect, String> {
    let parsed = ParsedPath::parse(path)
        .map_err(|_| "allowed is a path such as fluids[0].material.viscosity".to_owned())?;
    let known = (0..parsed.0.len())
        .rev()
        .map(|length| ParsedPath(parsed.0[..length].to_vec()))
        .find(|shorter| shorter.reflect_element(scene.as_partial_reflect()).is_ok())
        .unwrap_or(ParsedPath(Vec::new()));
    if parsed.reflect_element(scene.as_partial_reflect()).is_err() {
        let parent = known.reflect_element(scene.as_partial_reflect());
        let parts = parent.map_or_else(|_| String::new(), parts);
        let name = known.0.iter().map(|part| part.access.to_string()).collect::<String>();
        let name = name.strip_prefix('.').unwrap_or(&name);
        let name = if name.is_empty() { "a scene" } else { name };
        return Err(format!("no such field, {name} has {parts}"));
    }
    // Checked above, and no part of a scene is a dynamic type.
    let field = parsed.reflect_element_mut(scene.as_partial_reflect_mut());
    field.ok().and_then(PartialReflect::try_as_reflect_mut).ok_or_else(|| "no such field".into())
}

/// Parses `text` as the type of `field` and puts it there.
fn replace(field: &mut dyn Reflect, text: &str, registry: &TypeRegistry) -> Result<(), String> {
    let info = field.reflect_type_info();
    let refused = |reason: String| format!("{reason}, allowed is {}", allowed(info));
    let registration = registry
        .get(info.type_id())
        .ok_or_else(|| format!("{} cannot be read from text", info.type_path()))?;
    let value = ron::Options::default()
        .with_default_extension(ron::extensions::Extensions::UNWRAP_VARIANT_NEWTYPES)
        .from_str_seed(text, TypedReflectDeserializer::new(registration, registry))
        .map_err(|error| refused(error.code.to_string()))?;
    let value = match value.try_into_reflect() {
        Ok(value) => value,
        // A list arrives as a dynamic one.
        Err(dynamic) => registration
            .data::<ReflectFromReflect>()
            .and_then(|concrete| concrete.from_reflect(dynamic.as_ref()))
            .ok_or_else(|| refused("fields are missing".into()))?,
    };
    field.set(value).map_err(|_| refused("another type".into()))
}

/// What a path can go on with below `value`.
fn parts(value: &dyn PartialReflect) -> String {
    let names = |names: Vec<String>| match names.is_empty() {
        true => "no fields".to_owned(),
        false => names.join(", "),
    };
    match value.reflect_ref() {
        ReflectRef::Struct(value) => {
            names((0..value.field_len()).filter_map(|i| Some(value.name_at(i)?.into())).collect())
        }
        ReflectRef::Enum(value) => {
            let name = |i| value.name_at(i).map_or_else(|| i.to_string(), str::to_owned);
            let fields = names((0..value.field_len()).map(name).collect());
            format!("{fields} (it is {})", value.variant_name())
        }
        ReflectRef::List(list) => match list.len() {
            0 => "no elements".to_owned(),
            1 => "one element, [0]".to_owned(),
            count => format!("elements [0] to [{}]", count - 1),
        },
        _ => "no fields".to_owned(),
    }
}

/// How a value of a type is written.
fn allowed(info: &TypeInfo) -> String {
    let variant = |variant: &VariantInfo| match variant {
        VariantInfo::Struct(fields) => {
            format!("{}({})", fields.name(), fields.field_names().join(": …, ") + ": …")
        }
        VariantInfo::Tuple(fields) => format!("{}(…)", fields.name()),
        VariantInfo::Unit(unit) => unit.name().to_owned(),
    };
    match info {
        TypeInfo::Enum(info) => info.iter().map(variant).collect::<Vec<_>>().join(" or "),
        TypeInfo::Struct(info) if is_vector(info) => {
            format!("({})", info.field_names().join(", "))
        }
        TypeInfo::Struct(info) => format!("({})", info.field_names().join(": …, ") + ": …"),
        TypeInfo::List(_) => "a list, […, …]".to_owned(),
        _ if info.is::<f32>() => "a number".to_owned(),
        _ if info.is::<u32>() => "a whole number, 0 or more".to_owned(),
        _ if info.is::<bool>() => "true or false".to_owned(),
        _ => info.type_path().to_owned(),
    }
}

/// Whether a struct is written as a tuple of its components.
fn is_vector(info: &bevy_reflect::structs::StructInfo) -> bool {
    info.is::<bevy_math::Vec2>() || info.is::<bevy_math::Vec3>()
}
