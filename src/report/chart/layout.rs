//! Boxes and arrows -> places: layers from top to bottom, few crossings, arrows as straight as they get.
//!
//! The usual three steps for layered drawings. Ways back to a loop's head run upwards at the right of everything else.
//! Nothing here recurses; the work is bounded by nodes times layers.

/// Width and height of each box; arrows by their ends, with whether they lead back.
pub struct Boxes<'a> {
    pub sizes: &'a [(f64, f64)],
    pub arrows: &'a [(usize, usize, bool)],
}

pub struct Layout {
    /// The upper left corner of each box.
    pub places: Vec<(f64, f64)>,
    /// For each arrow the points it runs through; between two of them it curves from vertical to vertical.
    pub ways: Vec<Vec<(f64, f64)>>,
    pub width: f64,
    pub height: f64,
}

/// Between layers, between boxes, between an arrow that passes and what it passes.
const DOWN: f64 = 46.0;
const ACROSS: f64 = 28.0;
const LANE: f64 = 16.0;
/// How far a way back goes on before it turns upwards.
pub const TURN: f64 = 26.0;
const SWEEPS: usize = 10;
/// The weight of cells that ways back run through.
const OUTSIDE: f64 = 0.0;

/// A box, or a place in a layer that an arrow passes.
struct Cell {
    layer: usize,
    width: f64,
    /// How much it wants to stand where its neighbours pull it.
    weight: f64,
    up: Vec<usize>,
    down: Vec<usize>,
    x: f64,
}

pub fn layout(boxes: &Boxes) -> Layout {
    let count = boxes.sizes.len();
    let layer_of = layers(boxes);
    let last = layer_of.iter().copied().max().unwrap_or(0);
    let mut cells: Vec<Cell> = (0..count)
        .map(|index| Cell {
            layer: layer_of[index],
            width: boxes.sizes[index].0,
            weight: 1.0,
            up: Vec::new(),
            down: Vec::new(),
            x: 0.0,
        })
        .collect();
    // The cells that each arrow runs through, from the upper end to the lower.
    let mut through: Vec<Vec<usize>> = Vec::with_capacity(boxes.arrows.len());
    for (from, to, _) in boxes.arrows {
        let goes_up = layer_of[*from] >= layer_of[*to];
        let mut passed = Vec::new();
        let range = match goes_up {
            true => layer_of[*to]..layer_of[*from] + 1,
            false => layer_of[*from] + 1..layer_of[*to],
        };
        for layer in range {
            passed.push(cells.len());
            let weight = if goes_up { OUTSIDE } else { 6.0 };
            cells.push(Cell { layer, width: 2.0, weight, up: Vec::new(), down: Vec::new(), x: 0.0 });
        }
        if !goes_up {
            let ends: Vec<usize> = [*from].into_iter().chain(passed.iter().copied()).chain([*to]).collect();
            for pair in ends.windows(2) {
                cells[pair[0]].down.push(pair[1]);
                cells[pair[1]].up.push(pair[0]);
            }
        }
        through.push(passed);
    }
    // Ways back find their places when all else has its own.
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); last + 1];
    for (index, cell) in cells.iter().enumerate().filter(|(_, cell)| cell.weight > OUTSIDE) {
        rows[cell.layer].push(index);
    }
    order(&cells, &mut rows);
    place(&mut cells, &rows);
    place_outside(&mut cells, &rows, &through);
    finish(boxes, cells, &rows, &through)
}

/// One below all that lead to it, ways back aside.
fn layers(boxes: &Boxes) -> Vec<usize> {
    let count = boxes.sizes.len();
    let mut layer = vec![0; count];
    let mut waits = vec![0usize; count];
    let mut after = vec![Vec::new(); count];
    for (from, to, back) in boxes.arrows {
        if !back && from != to {
            after[*from].push(*to);
            waits[*to] += 1;
        }
    }
    let mut ready: Vec<usize> = (0..count).rev().filter(|index| waits[*index] == 0).collect();
    let mut done = vec![false; count];
    loop {
        while let Some(at) = ready.pop() {
            done[at] = true;
            for to in &after[at] {
                layer[*to] = layer[*to].max(layer[at] + 1);
                waits[*to] = waits[*to].saturating_sub(1);
                if waits[*to] == 0 && !done[*to] {
                    ready.push(*to);
                }
            }
        }
        // A ring that nobody marked: it is cut at its first box.
        match (0..count).find(|index| !done[*index]) {
            Some(first) => ready.push(first),
            None => return layer,
        }
        if let Some(first) = ready.last() {
            waits[*first] = 0;
            done[*first] = true;
        }
    }
}

/// Orders each row by where the neighbours of its cells stand, down and up in turn.
fn order(cells: &[Cell], rows: &mut [Vec<usize>]) {
    let mut place = vec![0.0f64; cells.len()];
    let number = |rows: &[Vec<usize>], place: &mut [f64]| {
        for row in rows {
            for (index, cell) in row.iter().enumerate() {
                place[*cell] = (index as f64 + 0.5) / row.len() as f64;
            }
        }
    };
    number(rows, &mut place);
    let mut best = (crossings(cells, rows), rows.to_vec());
    for sweep in 0..SWEEPS {
        let down = sweep % 2 == 0;
        let indices: Vec<usize> = if down { (0..rows.len()).collect() } else { (0..rows.len()).rev().collect() };
        for index in indices {
            let key = |cell: usize| -> f64 {
                let near = if down { &cells[cell].up } else { &cells[cell].down };
                let mean = near.iter().map(|other| place[*other]).sum::<f64>() / near.len().max(1) as f64;
                if near.is_empty() { place[cell] } else { mean }
            };
            let mut keyed: Vec<(f64, usize)> = rows[index].iter().map(|cell| (key(*cell), *cell)).collect();
            keyed.sort_by(|(a, _), (b, _)| a.total_cmp(b));
            rows[index] = keyed.into_iter().map(|(_, cell)| cell).collect();
            for (position, cell) in rows[index].iter().enumerate() {
                place[*cell] = (position as f64 + 0.5) / rows[index].len() as f64;
            }
        }
        let now = crossings(cells, rows);
        if now < best.0 {
            best = (now, rows.to_vec());
        }
    }
    rows.clone_from_slice(&best.1);
}

fn crossings(cells: &[Cell], rows: &[Vec<usize>]) -> usize {
    let mut place = vec![0usize; cells.len()];
    for row in rows {
        for (index, cell) in row.iter().enumerate() {
            place[*cell] = index;
        }
    }
    let mut count = 0;
    for row in rows {
        let mut arrows: Vec<(usize, usize)> =
            row.iter().flat_map(|cell| cells[*cell].down.iter().map(|to| (place[*cell], place[*to]))).collect();
        arrows.sort_unstable();
        // Quadratic, so only for rows that somebody may look at.
        if arrows.len() > 400 {
            continue;
        }
        for (index, first) in arrows.iter().enumerate() {
            count += arrows[index + 1..].iter().filter(|second| second.0 > first.0 && second.1 < first.1).count();
        }
    }
    count
}

/// Centres of the cells: each row as near to where its neighbours pull it as the order and the gaps allow.
fn place(cells: &mut [Cell], rows: &[Vec<usize>]) {
    for row in rows {
        let mut x = 0.0;
        for cell in row {
            cells[*cell].x = x + cells[*cell].width / 2.0;
            x += cells[*cell].width + ACROSS;
        }
    }
    for sweep in 0..3 * SWEEPS {
        let indices: Vec<usize> =
            if sweep % 2 == 0 { (0..rows.len()).collect() } else { (0..rows.len()).rev().collect() };
        for index in indices {
            let row = &rows[index];
            let mut offset = 0.0;
            let mut wanted: Vec<(f64, f64)> = Vec::with_capacity(row.len());
            let mut offsets = Vec::with_capacity(row.len());
            for (position, cell) in row.iter().enumerate() {
                let own = &cells[*cell];
                if let Some(before) = position.checked_sub(1).map(|before| &cells[row[before]]) {
                    let is_arrow = before.width < 4.0 || own.width < 4.0;
                    offset += before.width / 2.0 + own.width / 2.0 + if is_arrow { LANE } else { ACROSS };
                }
                let near: Vec<f64> = own.up.iter().chain(&own.down).map(|other| cells[*other].x).collect();
                let pull = if near.is_empty() { own.x } else { near.iter().sum::<f64>() / near.len() as f64 };
                wanted.push((pull - offset, own.weight));
                offsets.push(offset);
            }
            for ((cell, x), offset) in row.iter().zip(rising(&wanted)).zip(offsets) {
                cells[*cell].x = x + offset;
            }
        }
    }
}

/// Ways back run straight up at the right of all that stands in their layers, short ones inside.
fn place_outside(cells: &mut [Cell], rows: &[Vec<usize>], through: &[Vec<usize>]) {
    let edge = |cell: &usize| cells[*cell].x + cells[*cell].width / 2.0;
    let right = |row: &Vec<usize>| row.iter().map(edge).fold(f64::NEG_INFINITY, f64::max);
    let mut edges: Vec<f64> = rows.iter().map(right).collect();
    let is_back = |way: &&Vec<usize>| way.first().is_some_and(|cell| cells[*cell].weight <= OUTSIDE);
    let mut ways: Vec<&Vec<usize>> = through.iter().filter(is_back).collect();
    ways.sort_by_key(|way| way.len());
    for way in ways {
        let x = way.iter().map(|cell| edges[cells[*cell].layer]).fold(f64::NEG_INFINITY, f64::max) + LANE;
        for cell in way {
            edges[cells[*cell].layer] = x;
            cells[*cell].x = x;
        }
    }
}

/// The non-decreasing values that are nearest to those wanted, by weighted squares.
fn rising(wanted: &[(f64, f64)]) -> Vec<f64> {
    let mut pools: Vec<(f64, f64, usize)> = Vec::new();
    for (value, weight) in wanted {
        pools.push((*value, *weight, 1));
        while let [.., (a, wa, na), (b, wb, nb)] = pools[..] {
            if a <= b {
                break;
            }
            pools.truncate(pools.len() - 2);
            pools.push(((a * wa + b * wb) / (wa + wb), wa + wb, na + nb));
        }
    }
    pools.into_iter().flat_map(|(value, _, count)| std::iter::repeat_n(value, count)).collect()
}

fn finish(boxes: &Boxes, mut cells: Vec<Cell>, rows: &[Vec<usize>], through: &[Vec<usize>]) -> Layout {
    let count = boxes.sizes.len();
    let left = cells.iter().map(|cell| cell.x - cell.width / 2.0).fold(f64::INFINITY, f64::min);
    let left = if left.is_finite() { left } else { 0.0 };
    for cell in &mut cells {
        cell.x -= left;
    }
    let mut tops = Vec::with_capacity(rows.len());
    let mut y = 0.0;
    for row in rows {
        let height = row.iter().filter(|cell| **cell < count).map(|cell| boxes.sizes[*cell].1).fold(0.0, f64::max);
        tops.push((y, y + height));
        y += height + DOWN;
    }
    let places: Vec<(f64, f64)> =
        (0..count).map(|index| (cells[index].x - cells[index].width / 2.0, tops[cells[index].layer].0)).collect();
    let starts = ports(boxes, &cells, through, true);
    let ends = ports(boxes, &cells, through, false);
    let ways = boxes
        .arrows
        .iter()
        .enumerate()
        .map(|(arrow, (from, to, _))| {
            let start = (starts[arrow], places[*from].1 + boxes.sizes[*from].1);
            let end = (ends[arrow], places[*to].1);
            let passed = &through[arrow];
            let mut points = vec![start];
            if cells[*from].layer >= cells[*to].layer {
                // Up, outside: from the lowest layer to the highest.
                if let (Some(low), Some(high)) = (passed.last(), passed.first()) {
                    points.push((cells[*low].x, tops[cells[*low].layer].1));
                    points.push((cells[*high].x, tops[cells[*high].layer].0));
                }
            } else {
                // Where the box ends before its layer does, straight on to the layer's end.
                points.push((start.0, tops[cells[*from].layer].1));
                for cell in passed {
                    points.push((cells[*cell].x, tops[cells[*cell].layer].0));
                    points.push((cells[*cell].x, tops[cells[*cell].layer].1));
                }
            }
            points.push(end);
            points.dedup();
            points
        })
        .collect();
    let width = cells.iter().map(|cell| cell.x + cell.width / 2.0).fold(0.0, f64::max);
    let last = rows.len().saturating_sub(1);
    let turns_below =
        boxes.arrows.iter().any(|(from, to, _)| cells[*from].layer == last && cells[*from].layer >= cells[*to].layer);
    let turn = if turns_below { TURN } else { 0.0 };
    Layout { places, ways, width, height: (y - DOWN).max(0.0) + turn }
}

/// Where on its box each arrow begins or ends: side by side, in the order of where they go.
fn ports(boxes: &Boxes, cells: &[Cell], through: &[Vec<usize>], begins: bool) -> Vec<f64> {
    let mut at_box: Vec<Vec<(f64, usize)>> = vec![Vec::new(); boxes.sizes.len()];
    for (arrow, (from, to, _)) in boxes.arrows.iter().enumerate() {
        let goes_up = cells[*from].layer >= cells[*to].layer;
        let own = if begins { *from } else { *to };
        let other = if begins { *to } else { *from };
        let next = match (begins, goes_up) {
            (true, false) => through[arrow].first(),
            (false, false) => through[arrow].last(),
            (true, true) => through[arrow].last(),
            (false, true) => through[arrow].first(),
        };
        let x = next.map_or(cells[other].x, |cell| cells[*cell].x);
        at_box[own].push((x, arrow));
    }
    let mut ports = vec![0.0; boxes.arrows.len()];
    for (index, arrows) in at_box.iter_mut().enumerate() {
        arrows.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let step = (cells[index].width / (arrows.len() + 1) as f64).min(26.0);
        for (position, (_, arrow)) in arrows.iter().enumerate() {
            ports[*arrow] = cells[index].x + (position as f64 - (arrows.len() as f64 - 1.0) / 2.0) * step;
        }
    }
    ports
}
