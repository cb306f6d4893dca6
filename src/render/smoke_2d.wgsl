// Values of cells in the colours of a palette. A texel of `cells` holds a cell's value and whether
// it is solid (1) or free (0). Read with textureLoad: float textures cannot be filtered everywhere.

#import bevy_sprite::{mesh2d_vertex_output::VertexOutput, mesh2d_view_bindings::view}
#ifdef TONEMAP_IN_SHADER
#import bevy_core_pipeline::tonemapping
#endif
#ifdef SRGB_OUTPUT
#import bevy_render::color_operations::linear_to_srgb
#endif
#ifdef OKLAB_OUTPUT
#import bevy_render::color_operations::linear_rgb_to_oklab
#endif

struct Look {
    solid: vec4<f32>,
    // Values at the first and last colour of the palette; the rest pads.
    ends: vec4<f32>,
}

@group(#{MATERIAL_BIND_GROUP}) @binding(0) var cells: texture_2d<f32>;
@group(#{MATERIAL_BIND_GROUP}) @binding(1) var palette: texture_2d<f32>;
@group(#{MATERIAL_BIND_GROUP}) @binding(2) var<uniform> look: Look;

// Smoothed part of solid at which a solid's edge is drawn: below the 4/9 of a single cell.
const EDGE: f32 = 0.4;

// Weight of a place `x` cells away: uniform cubic B-spline, smooth where cells are steps.
fn smooth_weight(x: f32) -> f32 {
    let a = abs(x);
    if a < 1.0 {
        return 2.0 / 3.0 - a * a * (1.0 - 0.5 * a);
    }
    let b = max(2.0 - a, 0.0);
    return b * b * b / 6.0;
}

fn linear_weight(x: f32) -> f32 {
    return max(1.0 - abs(x), 0.0);
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
fn fragment(in: VertexOutput) -> @location(0) vec4<f32> {
    let size = vec2<i32>(textureDimensions(cells));
    // In cells, whole numbers in their middles.
    let place = in.uv * vec2<f32>(size) - 0.5;
    let base = vec2<i32>(floor(place));
    var solid = 0.0;
    var value = 0.0;
    var free = 0.0;
    for (var j = -1; j <= 2; j += 1) {
        for (var i = -1; i <= 2; i += 1) {
            let cell = base + vec2<i32>(i, j);
            let away = place - vec2<f32>(cell);
            let texel = textureLoad(cells, clamp(cell, vec2<i32>(0), size - 1), 0).rg;
            solid += smooth_weight(away.x) * smooth_weight(away.y) * texel.g;
            // Solid cells lend no value to free ones beside them.
            let weight = linear_weight(away.x) * linear_weight(away.y) * (1.0 - texel.g);
            value += weight * texel.r;
            free += weight;
        }
    }
    value /= max(free, 1.0e-6);
    var color = color_of((value - look.ends.x) / (look.ends.y - look.ends.x));
    let softness = max(fwidth(solid), 1.0e-4);
    color = mix(color, look.solid, clamp((solid - EDGE) / softness + 0.5, 0.0, 1.0));
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
