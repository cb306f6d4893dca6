// Spheres as impostors. A sphere is one texel of `spheres`:
//   x, y, z: the bits of the centre; w: colour in sRGB, red in the lowest byte, not zero.
// A texel whose w is zero holds no sphere.

#import bevy_pbr::{
    mesh_functions::get_world_from_local,
    mesh_view_bindings::{lights, view},
    pbr_functions::main_pass_post_lighting_processing,
    pbr_types::{pbr_input_new, STANDARD_MATERIAL_FLAGS_FOG_ENABLED_BIT},
}
#import bevy_render::color_operations::srgb_to_linear_rgb

@group(#{MATERIAL_BIND_GROUP}) @binding(0) var<uniform> material_radius: vec4<f32>;
@group(#{MATERIAL_BIND_GROUP}) @binding(1) var spheres: texture_2d<u32>;

const PI: f32 = 3.14159265;
// Of the highlight (Blinn 1977): its sharpness, and the light it returns at most.
const SHININESS: f32 = 60.0;
const HIGHLIGHT: f32 = 0.12;

struct Varyings {
    @builtin(position) position: vec4<f32>,
    // A point of the quad, in the world.
    @location(0) world: vec3<f32>,
    @location(1) @interpolate(flat) center: vec3<f32>,
    @location(2) @interpolate(flat) radius: f32,
    @location(3) @interpolate(flat) color: u32,
}

struct Fragment {
    @location(0) color: vec4<f32>,
    @builtin(frag_depth) depth: f32,
}

fn is_orthographic() -> bool {
    return view.clip_from_view[3].w == 1.0;
}

@vertex
fn vertex(
    @builtin(instance_index) instance_index: u32,
    // Two bits of corner, then the sphere's index.
    @location(0) corner_and_index: u32,
) -> Varyings {
    var out: Varyings;
    // All four corners in one point: a quad without area, which draws nothing.
    out.position = vec4(0.0, 0.0, 0.0, 1.0);
    out.world = vec3(0.0);
    out.center = vec3(0.0);
    out.radius = 0.0;
    out.color = 0u;

    let index = corner_and_index >> 2u;
    let width = textureDimensions(spheres).x;
    let texel = textureLoad(spheres, vec2<i32>(i32(index % width), i32(index / width)), 0);
    if texel.w == 0u {
        return out;
    }
    let world_from_local = get_world_from_local(instance_index);
    let local = vec4(bitcast<f32>(texel.x), bitcast<f32>(texel.y), bitcast<f32>(texel.z), 1.0);
    let center = (world_from_local * local).xyz;
    let radius = material_radius.x * length(world_from_local[0].xyz);
    if !(radius > 0.0) {
        return out;
    }

    var right = view.world_from_view[0].xyz;
    var up = view.world_from_view[1].xyz;
    var half_side = radius;
    if !is_orthographic() {
        let to_camera = view.world_position - center;
        let distance = length(to_camera);
        // Inside of the sphere there is nothing to see.
        if !(distance > radius) {
            return out;
        }
        // Across the ray through the centre, large enough for the cone that touches the sphere.
        let toward = to_camera / distance;
        right = normalize(cross(up, toward));
        up = cross(toward, right);
        let part = radius / distance;
        half_side = radius / sqrt(1.0 - part * part);
    }
    // A little more for the soft edge.
    half_side *= 1.1;
    let corner = 2.0 * vec2(f32(corner_and_index & 1u), f32((corner_and_index >> 1u) & 1u)) - 1.0;
    out.world = center + half_side * (corner.x * right + corner.y * up);
    out.position = view.clip_from_world * vec4(out.world, 1.0);
    out.center = center;
    out.radius = radius;
    out.color = texel.w;
    return out;
}

@fragment
fn fragment(in: Varyings) -> Fragment {
    let orthographic = is_orthographic();
    var ray = -view.world_from_view[2].xyz;
    if !orthographic {
        ray = normalize(in.world - view.world_position);
    }
    // From the centre to the nearest point of the ray.
    let from_center = in.world - in.center;
    let across = from_center - ray * dot(from_center, ray);
    let distance = length(across);
    // A pixel's width in world units; before anything is discarded, as derivatives need all pixels.
    let pixel = max(fwidth(distance), 1e-9);
    let coverage = clamp((in.radius - distance) / pixel + 0.5, 0.0, 1.0);
    if coverage <= 0.0 {
        discard;
    }
    let depth = sqrt(max(in.radius * in.radius - distance * distance, 0.0));
    let hit = in.center + across - ray * depth;
    let normal = normalize(across - ray * depth);

    // In place of the whole of physically based shading, which costs ten times as much where the
    // processor draws: a tenth of a screen of spheres is a million fragments.
    let base = srgb_to_linear_rgb(unpack4x8unorm(in.color).rgb);
    var light = base * lights.ambient_color.rgb;
    for (var i = 0u; i < lights.n_directional_lights; i++) {
        let toward_light = lights.directional_lights[i].direction_to_light;
        let halfway = normalize(toward_light - ray);
        let highlight = HIGHLIGHT * pow(max(dot(normal, halfway), 0.0), SHININESS);
        light += lights.directional_lights[i].color.rgb
            * max(dot(normal, toward_light), 0.0)
            * (base / PI + highlight);
    }
    // What fog reads.
    var input = pbr_input_new();
    input.material.flags |= STANDARD_MATERIAL_FLAGS_FOG_ENABLED_BIT;
    input.frag_coord = in.position;
    input.world_position = vec4(hit, 1.0);

    var out: Fragment;
    let lit = main_pass_post_lighting_processing(input, vec4(light * view.exposure, 1.0));
    out.color = vec4(lit.rgb, coverage);
    let clip = view.clip_from_world * vec4(hit, 1.0);
    out.depth = clip.z / clip.w;
    return out;
}
