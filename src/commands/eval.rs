//! `bitrift eval`: one input on every build.

use super::console::Console;
use super::failure::Failure;
use super::wanted;
use crate::cli::{EvalArgs, Exit};
use crate::fp::parse_number;
use crate::lab::{Lab, LabError, load};
use crate::model::{Coordinate, Event, Function, HeldValue, MOST_BLOCKS, Number, ParamRow};
use crate::report::evaluation::{self, Evaluation};

pub fn run(args: &EvalArgs, console: &Console) -> Result<Exit, Failure> {
    // Before anything is compiled: a wrong name or number is told at once.
    let means = wanted::means(&args.lab.means)?;
    let mut experiment = load(&wanted::matrix_or_latest(&args.run, &args.lab)?, &means)?;
    let Some(place) = experiment.functions.iter().position(|f| f.name == args.function) else {
        let known = experiment.functions.into_iter().map(|f| f.name).collect();
        let word = args.function.clone();
        return Err(LabError::NoSuchFunction { word, known, whose: "of the matrix" }.into());
    };
    experiment.functions = vec![experiment.functions.swap_remove(place)];
    if let Some(block) = args.block {
        return block_of(Lab::new(experiment, means)?, block, args, console);
    }
    let inputs = read_inputs(&experiment.functions[0], &args.values)?;
    let lab = Lab::new(experiment, means)?;
    let progress = console.progress(args.lab.quiet);
    let built = lab.build_all(progress.as_ref())?;
    let function = &lab.experiment.functions[0];
    let param = |p: &Coordinate| ParamRow { name: p.name.clone(), ty: p.ty };
    let evaluation = Evaluation {
        function: function.name.clone(),
        params: function.coordinates.iter().map(param).collect(),
        inputs: Number::list(&function.scalars(), &inputs),
        results: function.results.clone(),
        rows: built.evaluate(0, &inputs)?,
    };
    built.panel.refusals().into_iter().for_each(|text| progress.send(Event::Note { text }));
    console.print(&evaluation::render(&evaluation, console.style))?;
    Ok(Exit::Done)
}

/// The inputs of a block with what the baseline makes of them: text for `diff`.
fn block_of(lab: Lab, block: usize, args: &EvalArgs, console: &Console) -> Result<Exit, Failure> {
    if block > MOST_BLOCKS {
        return Err(Failure::usage(format!("--block {block}: blocks have the numbers 0 to {MOST_BLOCKS}")));
    }
    let built = lab.build_all(console.progress(args.lab.quiet).as_ref())?;
    let lines: Vec<String> = built
        .held_block(0, block)?
        .into_iter()
        .map(|HeldValue { inputs, results }| format!("{} -> {}\n", inputs.join(" "), results.join(" ")))
        .collect();
    console.print(&lines.concat())?;
    Ok(Exit::Done)
}

fn read_inputs(function: &Function, values: &[String]) -> Result<Vec<u64>, Failure> {
    if values.len() != function.arity() {
        let c_types = function.interface.parameters.iter().flat_map(|p| &p.slots).map(|slot| &slot.c_type);
        let spelled: Vec<String> = function
            .coordinates
            .iter()
            .zip(c_types)
            .map(|(c, c_type)| format!("{c_type} {}", c.name))
            .collect();
        return Err(Failure::usage(format!(
            "{} takes {} {} ({}), not {}",
            function.name,
            function.arity(),
            if function.arity() == 1 { "value" } else { "values" },
            spelled.join(", "),
            values.len()
        )));
    }
    let read = |(param, text): (&Coordinate, &String)| {
        parse_number(param.ty, text).map_err(|e| Failure::usage(format!("parameter {}: {e}", param.name)))
    };
    function.coordinates.iter().zip(values).map(read).collect()
}
