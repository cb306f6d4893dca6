// Round, antialiased dots. A dot is one texel of `dots`:
//   x, y: the bits of the position; z: colour in sRGB, red in the lowest byte; w: radius bits.
// A texel whose w is zero holds no dot.

#import bevy_sprite::{mesh2d_functions::get_world_from_local, mesh2d_view_bindings::view}
#import bevy_render::color_operations::srgb_to_linear_rgb
#ifdef TONEMAP_IN_SHADER
#import bevy_core_pipeline::tonemapping
#endif
#ifdef SRGB_OUTPUT
#import bevy_render::color_operations::linear_to_srgb
#endif
#ifdef OKLAB_OUTPUT
#import bevy_render::color_operations::linear_rgb_to_oklab
#endif

@group(#{MATERIAL_BIND_GROUP}) @binding(0) var dots: texture_2d<u32>;

// In pixels. The lower bound keeps a far or tiny dot visible as about one pixel; the upper one
// keeps the arithmetic below finite for any finite radius.
const MIN_RADIUS: f32 = 0.5;
const MAX_RADIUS: f32 = 1.0e7;

struct Varyings {
    @builtin(position) position: vec4<f32>,
    // From the dot's centre, in pixels.
    @location(0) offset: vec2<f32>,
    @location(1) @interpolate(flat) radius: f32,
    @location(2) @interpolate(flat) color: u32,
}

@vertex
fn vertex(
    @builtin(instance_index) instance_index: u32,
    // Two bits of corner, then the dot's index.
    @location(0) corner_and_index: u32,
) -> Varyings {
    var out: Varyings;
    // All four corners in one point: a quad without area, which draws nothing.
    out.position = vec4(0.0, 0.0, 0.0, 1.0);
    out.offset = vec2(0.0);
    out.radius = 0.0;
    out.color = 0u;

    let index = corner_and_index >> 2u;
    let width = textureDimensions(dots).x;
    let texel = textureLoad(dots, vec2<i32>(i32(index % width), i32(index / width)), 0);
    if texel.w == 0u {
        return out;
    }

    let clip_from_local = view.clip_from_world * get_world_from_local(instance_index);
    let center = clip_from_local * vec4(bitcast<f32>(texel.x), bitcast<f32>(texel.y), 0.0, 1.0);
    let pixels_from_clip = 0.5 * view.main_pass_viewport.zw / center.w;
    let axis_x = clip_from_local[0].xy * pixels_from_clip;
    let axis_y = clip_from_local[1].xy * pixels_from_clip;
    let pixels_per_unit = sqrt(abs(axis_x.x * axis_y.y - axis_x.y * axis_y.x));
    // Also false for NaN, which a camera or an entity of zero scale would give.
    if !(pixels_per_unit > 0.0) {
        return out;
    }

    let corner = 2.0 * vec2(f32(corner_and_index & 1u), f32((corner_and_index >> 1u) & 1u)) - 1.0;
    out.radius = clamp(bitcast<f32>(texel.w) * pixels_per_unit, MIN_RADIUS, MAX_RADIUS);
    // One pixel more for the soft edge.
    out.offset = corner * (out.radius + 1.0);
    // Added in clip space: far from the origin, position + radius in local space would lose the
    // radius.
    let local = out.offset / pixels_per_unit;
    out.position = center + clip_from_local[0] * local.x + clip_from_local[1] * local.y;
    out.color = texel.z;
    return out;
}

@fragment
fn fragment(in: Varyings) -> @location(0) vec4<f32> {
    // The offset is in pixels already, so the edge is one pixel wide without derivatives, which are
    // coarse on dots of a pixel or two.
    let coverage = clamp(in.radius + 0.5 - length(in.offset), 0.0, 1.0);
    let srgb = unpack4x8unorm(in.color);
    var color = vec4(srgb_to_linear_rgb(srgb.rgb), srgb.a * coverage);
#ifdef TONEMAP_IN_SHADER
    color = tonemapping::tone_mapping(color, view.color_grading);
#endif
#ifdef SRGB_OUTPUT
    color = vec4(linear_to_srgb(color.rgb), color.a);
#endif
#ifdef OKLAB_OUTPUT
    color = vec4(linear_rgb_to_oklab(color.rgb), color.a);
#endif
    return color;
}
