//! Pixel trees: pictures of a graph of states, with one pixel per state.
//!
//! A row holds the states with the same number of steps from the start. Green states are covered by another state. Red
//! states lead to an error. Yellow states have several predecessors or were merged. White states are in the waitlist.
//! (Lemberger: Abstraction refinement for model checking: program slicing + CEGAR, master's thesis, LMU Munich 2018,
//! section 3.5.) A narrow and deep tree is one path; a wide tree has many paths.

use cfa::graph::CfaGraphs;
use cfa::{Op, Program};
use driver::failure::Failure;
use engine::arg::{ArgNode, Status};
use std::fmt::Write as _;
use std::path::Path;

/// The status of a state, which determines its colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Color {
    Expanded,
    Covered,
    Target,
    Merged,
    Waiting,
}

impl Color {
    fn rgb(self) -> [u8; 3] {
        match self {
            Self::Expanded => [0x55, 0x5b, 0x66],
            Self::Covered => [0x3c, 0xa3, 0x4d],
            Self::Target => [0xd6, 0x28, 0x28],
            Self::Merged => [0xe8, 0xb8, 0x20],
            Self::Waiting => [0xf4, 0xf4, 0xf4],
        }
    }
}

/// The file format of a picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// A vector graphic.
    Svg,
    /// A raster graphic.
    Png,
}

impl Format {
    /// Returns the format that the file name extension denotes. `Err` if it is neither `.svg` nor `.png`.
    pub fn from_path(path: &Path) -> Result<Self, Failure> {
        match path.extension().and_then(|e| e.to_str()) {
            Some("svg") => Ok(Self::Svg),
            Some("png") => Ok(Self::Png),
            _ => Err(Failure::usage(format!("--pixel-tree writes .svg or .png, but the file is {}", path.display()))),
        }
    }
}

/// The rows of a picture.
pub struct PixelTree {
    rows: Vec<Vec<Color>>,
}

/// The colour (red, green, blue) of pixels without a state.
const BACKGROUND: [u8; 3] = [0xdd, 0xe3, 0xea];
/// The maximal number of pixels. In larger graphs, a row stands for several steps.
const MOST_PIXELS: u64 = 1 << 26;
/// The maximal number of pixels per side. Larger trees are thinned out.
const MOST_SIDE: usize = 8000;

impl PixelTree {
    /// Returns the tree of the states that an analysis reached. The states between two nodes of the graph are pixels,
    /// too.
    pub fn of_states(graph: &[ArgNode]) -> Self {
        let edges: u64 = graph.iter().map(|n| u64::from(n.edges)).sum();
        let rows_apart = edges.div_ceil(MOST_PIXELS).max(1) as usize;
        let mut depth = vec![0usize; graph.len()];
        let mut rows: Vec<Vec<Color>> = Vec::new();
        // Parents come before children.
        for (i, node) in graph.iter().enumerate() {
            let above = node.parent.map(|p| depth[p as usize]);
            depth[i] = above.map_or(0, |d| d + node.edges as usize);
            let color = match node.status {
                Status::Covered => Color::Covered,
                Status::Target => Color::Target,
                Status::Waiting => Color::Waiting,
                _ if node.merged => Color::Merged,
                Status::Expanded | Status::Pruned => Color::Expanded,
            };
            let (first, last) = (above.map_or(0, |d| d / rows_apart + 1), depth[i] / rows_apart);
            if rows.len() <= last {
                rows.resize(last + 1, Vec::new());
            }
            for row in rows.iter_mut().take(last).skip(first) {
                row.push(Color::Expanded);
            }
            // A node in the row of its parent has no pixel of its own. The last pixel of the row shows its status,
            // unless the node was merely expanded.
            match rows[last].last_mut().filter(|_| first > last && color != Color::Expanded) {
                Some(pixel) => *pixel = color,
                None if first > last => {}
                None => rows[last].push(color),
            }
        }
        Self { rows }
    }

    /// Returns the tree of the locations of a program, in rows by their distance from the entry of their function.
    pub fn of_locations(program: &Program) -> Self {
        let graphs = CfaGraphs::new(program);
        let mut rows: Vec<Vec<Color>> = Vec::new();
        for (_, graph) in graphs.funcs.iter() {
            let mut seen = vec![false; graph.locs.len()];
            let mut layer = vec![0u32];
            let mut depth = 0;
            while !layer.is_empty() {
                if rows.len() <= depth {
                    rows.push(Vec::new());
                }
                let mut next = Vec::new();
                for n in layer {
                    if std::mem::replace(&mut seen[n as usize], true) {
                        continue;
                    }
                    let loc = graph.locs[n as usize];
                    let error = program.out_edges(loc).any(|e| matches!(program.edges[e].op, Op::Error(_)));
                    rows[depth].push(match (error, graph.graph.predecessors(n).len() > 1) {
                        (true, _) => Color::Target,
                        (_, true) => Color::Merged,
                        _ => Color::Expanded,
                    });
                    next.extend(graph.graph.successors(n));
                }
                layer = next;
                depth += 1;
            }
        }
        rows.retain(|r| !r.is_empty());
        Self { rows }
    }

    /// Returns the content of a file with the picture in this format; see [`Format::from_path`].
    pub fn draw(&self, format: Format) -> Vec<u8> {
        match format {
            Format::Svg => self.svg().into_bytes(),
            Format::Png => self.png(),
        }
    }

    /// Returns the rows, thinned out to at most [`MOST_SIDE`] rows and columns.
    fn thinned(&self) -> Vec<Vec<Color>> {
        let thin = |n: usize| n.div_ceil(MOST_SIDE).max(1);
        let rows = self.rows.iter().step_by(thin(self.rows.len()));
        rows.map(|row| {
            row.chunks(thin(row.len()))
                .map(|c| c.iter().copied().find(|c| *c == Color::Target).unwrap_or(c[0]))
                .collect()
        })
        .collect()
    }

    fn svg(&self) -> String {
        let rows = self.thinned();
        let width = rows.iter().map(Vec::len).max().unwrap_or(1).max(1);
        let height = rows.len().max(1);
        let scale = (1200 / width.max(height)).clamp(1, 12);
        let [r, g, b] = BACKGROUND;
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {width} {height}\" \
             shape-rendering=\"crispEdges\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"#{r:02x}{g:02x}{b:02x}\"/>\n",
            width * scale,
            height * scale
        );
        for (y, row) in rows.iter().enumerate() {
            let start = (width - row.len()) / 2;
            let mut x = 0;
            // One rectangle for adjacent pixels of the same colour.
            for run in row.chunk_by(|a, b| a == b) {
                let [r, g, b] = run[0].rgb();
                let _ = writeln!(
                    text,
                    "<rect x=\"{}\" y=\"{y}\" width=\"{}\" height=\"1\" fill=\"#{r:02x}{g:02x}{b:02x}\"/>",
                    start + x,
                    run.len()
                );
                x += run.len();
            }
        }
        text + "</svg>\n"
    }

    fn png(&self) -> Vec<u8> {
        let rows = self.thinned();
        let width = rows.iter().map(Vec::len).max().unwrap_or(1).max(1);
        let height = rows.len().max(1);
        let scale = (1200 / width.max(height)).clamp(1, 12);
        let (w, h) = (width * scale, height * scale);
        let mut data = Vec::with_capacity(3 * w * h);
        for y in 0..h {
            let row = rows.get(y / scale).map_or(&[][..], Vec::as_slice);
            let start = (width - row.len()) / 2;
            for x in 0..w {
                let color = (x / scale).checked_sub(start).and_then(|i| row.get(i));
                data.extend(color.map_or(BACKGROUND, |c| c.rgb()));
            }
        }
        let mut picture = Vec::new();
        let mut encoder = png::Encoder::new(&mut picture, w as u32, h as u32);
        encoder.set_color(png::ColorType::Rgb);
        let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&data));
        written.expect("memory takes all, and the sizes are right");
        picture
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(parent: Option<u32>, status: Status) -> ArgNode {
        ArgNode { parent, at: None, status, merged: false, edges: 1 }
    }

    #[test]
    fn a_row_per_step() {
        let graph = [
            node(None, Status::Expanded),
            node(Some(0), Status::Expanded),
            node(Some(0), Status::Covered),
            node(Some(1), Status::Target),
        ];
        let tree = PixelTree::of_states(&graph);
        assert_eq!(tree.rows, [vec![Color::Expanded], vec![Color::Expanded, Color::Covered], vec![Color::Target]]);
        // The states between two nodes are pixels, too.
        let far = [node(None, Status::Expanded), ArgNode { edges: 3, merged: true, ..node(Some(0), Status::Expanded) }];
        let rows = PixelTree::of_states(&far).rows;
        assert_eq!(rows.concat(), [Color::Expanded, Color::Expanded, Color::Expanded, Color::Merged]);
        let svg = tree.svg();
        assert!(svg.contains("viewBox=\"0 0 2 3\"") && svg.contains("#d62828") && svg.contains("#3ca34d"), "{svg}");
        let picture = tree.draw(Format::from_path(Path::new("tree.png")).unwrap());
        let decoder = png::Decoder::new(std::io::Cursor::new(picture));
        let reader = decoder.read_info().unwrap();
        assert_eq!((reader.info().width, reader.info().height), (24, 36));
        assert!(Format::from_path(Path::new("tree.gif")).is_err());
    }
}
