// Smoke as a volume. A texel of `cells` is x: place on the palette (its root where the palette is
// not signed), y: part of the brightest light that reaches it, z: whether it is solid.

#import bevy_pbr::{
    mesh_functions::{get_local_from_world, get_world_from_local},
    mesh_view_bindings::{lights, view},
    pbr_functions::main_pass_post_lighting_processing,
    pbr_types::{pbr_input_new, STANDARD_MATERIAL_FLAGS_FOG_ENABLED_BIT},
    prepass_utils,
}

struct Look {
    // Lowest corner in m; w: extinction at the end of the palette in 1/m.
    min: vec4<f32>,
    // Extent in m; w: 1 where the middle of the palette is clear, not its start.
    size: vec4<f32>,
    // Towards the light whose way through the cells is known; w: 1 where light falls on the smoke.
    light: vec4<f32>,
}

@group(#{MATERIAL_BIND_GROUP}) @binding(0) var cells: texture_3d<f32>;
@group(#{MATERIAL_BIND_GROUP}) @binding(1) var linear: sampler;
@group(#{MATERIAL_BIND_GROUP}) @binding(2) var palette: texture_2d<f32>;
@group(#{MATERIAL_BIND_GROUP}) @binding(3) var<uniform> look: Look;

const PI: f32 = 3.14159265;
// Samples of a ray at most; a texel long where that suffices.
const MOST_SAMPLES: f32 = 160.0;
// What is left of the light behind so much smoke is not seen.
const LEAST_LIGHT: f32 = 0.004;

struct Varyings {
    @builtin(position) position: vec4<f32>,
    // A point of the box's far side, in the world and in the smoke's own space.
    @location(0) world: vec3<f32>,
    @location(1) local: vec3<f32>,
    // Where the ray comes from in the smoke's own space, or its way where all are parallel.
    @location(2) @interpolate(flat) eye: vec3<f32>,
    // The light's direction in the world.
    @location(3) @interpolate(flat) light: vec3<f32>,
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
    @location(0) position: vec3<f32>,
) -> Varyings {
    let world_from_local = get_world_from_local(instance_index);
    let local_from_world = get_local_from_world(instance_index);
    var out: Varyings;
    out.local = position;
    out.world = (world_from_local * vec4(position, 1.0)).xyz;
    out.position = view.clip_from_world * vec4(out.world, 1.0);
    if is_orthographic() {
        out.eye = (local_from_world * vec4(-view.world_from_view[2].xyz, 0.0)).xyz;
    } else {
        out.eye = (local_from_world * vec4(view.world_position, 1.0)).xyz;
    }
    out.light = normalize((world_from_local * vec4(look.light.xyz, 0.0)).xyz);
    return out;
}

fn color_of(part: f32) -> vec4<f32> {
    let last = i32(textureDimensions(palette).x) - 1;
    let place = clamp(part, 0.0, 1.0) * f32(last);
    let low = clamp(i32(place), 0, last);
    let high = min(low + 1, last);
    let a = textureLoad(palette, vec2<i32>(low, 0), 0);
    let b = textureLoad(palette, vec2<i32>(high, 0), 0);
    return mix(a, b, place - f32(low));
}

@fragment
fn fragment(in: Varyings) -> Fragment {
    // The ray from 0 at `start` to 1 at the far side, in parts of the box.
    let end = (in.local - look.min.xyz) / look.size.xyz;
    var start = (in.eye - look.min.xyz) / look.size.xyz;
    var world_start = view.world_position;
    if is_orthographic() {
        // As far back as the box is long at most.
        let way = normalize(in.eye) * length(look.size.xyz);
        start = end - way / look.size.xyz;
        world_start = in.world + view.world_from_view[2].xyz
            * (length(look.size.xyz) / length(in.eye));
    }
    let way = end - start;
    // Where it enters the box.
    let inverse = 1.0 / select(way, vec3(1e-9), abs(way) < vec3(1e-9));
    let near = min(-start * inverse, (1.0 - start) * inverse);
    let entry = clamp(max(near.x, max(near.y, near.z)), 0.0, 1.0);
    var exit = 1.0;
#ifdef DEPTH_PREPASS
    // What stands in the smoke ends the ray.
    let depth = prepass_utils::prepass_depth(in.position, 0u);
    let part = (in.position.xy - view.viewport.xy) / view.viewport.zw;
    let clip = vec4(part * vec2(2.0, -2.0) + vec2(-1.0, 1.0), max(depth, 1e-9), 1.0);
    let seen = view.world_from_clip * clip;
    exit = min(exit, distance(seen.xyz / seen.w, world_start) / distance(in.world, world_start));
#endif
    if exit <= entry {
        discard;
    }

    let meters = length(way * look.size.xyz);
    let texels = length(way * vec3<f32>(textureDimensions(cells))) * (exit - entry);
    let samples = clamp(ceil(texels), 2.0, MOST_SAMPLES);
    let step = (exit - entry) / samples;
    let optical_depth = look.min.w * meters * step;
    // Rays start at different parts of a step (Jimenez 2014), which hides the steps.
    let offset = fract(52.9829189 * fract(dot(in.position.xy, vec2(0.06711056, 0.00583715))));

    // Light that no smoke dims, and the one that was followed through it.
    var open = lights.ambient_color.rgb * PI;
    var dimmed = vec3(0.0);
    for (var i = 0u; i < lights.n_directional_lights; i++) {
        if dot(lights.directional_lights[i].direction_to_light, in.light) > 0.9999 {
            dimmed += lights.directional_lights[i].color.rgb;
        } else {
            open += lights.directional_lights[i].color.rgb;
        }
    }
    open *= view.exposure / PI;
    dimmed *= view.exposure / PI;

    var color = vec3(0.0);
    var left = 1.0;
    for (var i = 0.0; i < samples; i += 1.0) {
        let at = start + way * (entry + (i + offset) * step);
        let texel = textureSampleLevel(cells, linear, at, 0.0);
        var part = texel.x;
        var strength = abs(2.0 * part - 1.0);
        if look.size.w == 0.0 {
            part *= part;
            strength = part;
        }
        let base = color_of(part);
        let taken = left * (1.0 - exp(-optical_depth * strength * base.a));
        let light = mix(vec3(1.0), open + dimmed * texel.y, look.light.w);
        color += taken * base.rgb * light;
        left -= taken;
        if left < LEAST_LIGHT {
            break;
        }
    }
    let taken = 1.0 - left;
    if taken <= 0.0 {
        discard;
    }

    // What fog reads.
    let front = mix(world_start, in.world, entry);
    var input = pbr_input_new();
    input.material.flags |= STANDARD_MATERIAL_FLAGS_FOG_ENABLED_BIT;
    input.frag_coord = in.position;
    input.world_position = vec4(front, 1.0);
    var out: Fragment;
    let seen_color = main_pass_post_lighting_processing(input, vec4(color / taken, 1.0));
    out.color = vec4(seen_color.rgb, taken);
    // Where the ray enters, so that what stands before the box hides it.
    let front_clip = view.clip_from_world * vec4(front, 1.0);
    out.depth = select(1.0, clamp(front_clip.z / front_clip.w, 0.0, 1.0), front_clip.w > 0.0);
    return out;
}
