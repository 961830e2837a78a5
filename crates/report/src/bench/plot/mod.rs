//! Plots: what is drawn ([`PlotData`]), where it lies ([`Scene`]), and how it looks as SVG and on a terminal.
//!
//! The geometry is made once, in shares of the area; both forms show the same.

mod build;
mod canvas;
mod data;
mod glyphs;
mod scale;
mod scene;
mod select;
mod svg;
mod terminal;

pub use build::{distribution, forest, sweep, sweeps_of, timeline};
pub use data::{Axis, Limit, PlotData, Scale, Series, Shade, Shape, Ticks, Xy};
pub use scene::{Layer, Ruler, Scene, Tick};
pub use select::{PlotSide, Select};
pub use svg::plot_svg;
pub use terminal::{Screen, plot_text};
