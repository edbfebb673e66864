//! Where statements can be put into the fixture: after or, for a return, instead of which statement, and what is in scope there.

use super::Place;

/// A statement of the fixture that an injection goes behind, or replaces if it returns.
#[derive(Clone, Debug)]
pub struct Site {
    pub file: &'static str,
    pub function: &'static str,
    pub place: Place,
    pub anchor: &'static str,
    /// Two whole numbers of at most some thousands.
    pub operands: [&'static str; 2],
    /// The local that carries the injected value on; none when the value is returned at once.
    pub into: Option<&'static str>,
}

/// file, function, place, statement, operands, local that carries the value on.
const TABLE: &str = "
units.c     | turns         | middle | double count = floor(scaled);              | count amount   | count
units.c     | turns         | last   | return count;                              | amount count   |
units.c     | parity        | first  | double half = floor(count * 0.5);          | count count    | half
units.c     | parity        | last   | return odd;                                | count half     |
units.c     | whole         | first  | double kept = trunc(reading);              | kept kept      | kept
units.c     | whole         | branch | kept += 2.0;                               | kept odd       | kept
units.c     | whole         | last   | return kept + 4.0;                         | kept odd       |
units.c     | wrapped       | middle | double rest = amount - count * 1024.0;     | rest count     | rest
units.c     | wrapped       | last   | rest += parity(count);                     | amount rest    | rest
units.c     | wrapped       | last   | return rest;                               | rest amount    |
units.c     | blend         | first  | double parts = 3.0 * heavy;                | light heavy    | parts
units.c     | blend         | last   | return parts;                              | heavy light    |
catchment.c | dryness       | first  | double late = 64.0 - season;               | season season  | late
catchment.c | dryness       | branch | dry += 5.0 * season;                       | season dry     | dry
catchment.c | dryness       | last   | return dry + 8.0;                          | late dry       |
catchment.c | uptake        | first  | double want = 3.0 * rain + dry;            | rain dry       | want
catchment.c | uptake        | middle | double can = 1500.0 - dry;                 | dry rain       | can
catchment.c | uptake        | last   | return over > 0.0 ? can + 2.0 * over : want; | over rain    |
catchment.c | slope_flow    | first  | double flow = steep;                       | steep water    | flow
catchment.c | slope_flow    | loop   | flow += part;                              | left steep     | flow
catchment.c | slope_flow    | last   | return flow + 3.0 * left;                  | water flow     |
catchment.c | runoff        | first  | double dry = dryness(season);              | rain season    | dry
catchment.c | runoff        | last   | water += 2.0 * dry;                        | water rain     | water
catchment.c | runoff        | last   | return slope_flow(water, season);          | rain dry       |
catchment.c | groundwater   | middle | double dry = dryness(deep);                | season rain    | dry
catchment.c | groundwater   | last   | deep -= 2.0 * dry;                         | deep season    | deep
catchment.c | groundwater   | last   | return deep < 320.0 ? deep + 16.0 : deep + 3.0 * season; | season deep |
river.c     | bed           | first  | double depth = 3.0 * flow;                 | flow flow      | depth
river.c     | bed           | last   | return depth;                              | flow depth     |
river.c     | friction      | middle | double drag = 5.0 * rough;                 | depth rough    | drag
river.c     | friction      | branch | drag -= 3.0 * depth;                       | flow depth     | drag
river.c     | friction      | last   | return drag;                               | rough flow     |
river.c     | losses        | first  | double depth = bed(flow);                  | width flow     | depth
river.c     | losses        | last   | lost += 7.0 * width;                       | flow width     | lost
river.c     | losses        | last   | return lost + depth;                       | width depth    |
river.c     | routed        | first  | double sent = flow;                        | flow season    | sent
river.c     | routed        | loop   | kept += stays;                             | sent season    | kept
river.c     | routed        | last   | return sent + 3.0 * kept;                  | season flow    |
storage.c   | terrace       | first  | double above = volume - step;              | volume above   | above
storage.c   | terrace       | last   | return above > 0.0 ? rise : rise - above;  | above volume   |
storage.c   | level         | first  | double height = 2.0 * volume;              | volume height  | height
storage.c   | level         | loop   | height += rise;                            | rise volume    | height
storage.c   | level         | last   | return height + 5.0;                       | volume height  |
storage.c   | surface       | middle | double area = 4.0 * height;                | volume rain    | area
storage.c   | surface       | branch | area += 3.0 * rain;                        | rain volume    | area
storage.c   | surface       | last   | return area;                               | rain height    |
storage.c   | heat          | last   | sun += 3.0 * area;                         | season area    | sun
storage.c   | heat          | last   | return sun < 9600.0 ? sun : 64.0 + 3.0 * sun; | area season |
storage.c   | evaporated    | middle | double warm = heat(season, area);          | volume season  | warm
storage.c   | evaporated    | last   | taken += 0.5 * volume;                     | season volume  | taken
storage.c   | evaporated    | last   | return taken;                              | area warm      |
gates.c     | crest         | first  | double top = 300.0;                        | inflow inflow  | top
gates.c     | crest         | last   | return top;                                | inflow inflow  |
gates.c     | opening       | first  | double wide = 3.0 * excess;                | inflow excess  | wide
gates.c     | opening       | branch | wide += 2.0 * inflow;                      | inflow wide    | wide
gates.c     | opening       | last   | return wide;                               | excess inflow  |
gates.c     | spill         | first  | double top = crest(inflow);                | inflow volume  | top
gates.c     | spill         | middle | double excess = volume - top;              | volume inflow  | excess
gates.c     | spill         | last   | return excess > 0.0 ? excess + 2.0 * wide : 3.0 * excess + wide; | inflow volume |
gates.c     | released      | first  | double out = 3.0 * volume;                 | demand volume  | out
gates.c     | released      | loop   | missing -= 3.0 * more;                     | more demand    | missing
gates.c     | released      | last   | return out;                                | volume demand  |
turbine.c   | gross         | middle | double energy = flow * each;               | flow head      | energy
turbine.c   | gross         | last   | return energy;                             | head each      |
turbine.c   | efficiency    | first  | double load = flow - 64.0;                 | flow flow      | load
turbine.c   | efficiency    | last   | return good;                               | flow good      |
turbine.c   | power         | first  | double energy = gross(flow, head);         | head flow      | energy
turbine.c   | power         | last   | return energy - flow;                      | flow head      |
turbine.c   | price         | first  | double cents = 3.0;                        | demand demand  | cents
turbine.c   | price         | branch | cents += 2.0;                              | demand cents   | cents
turbine.c   | price         | last   | return cents;                              | cents demand   |
turbine.c   | income        | middle | double earned = energy + 9.0;              | demand cents   | earned
turbine.c   | income        | loop   | double sold = earned + cents;              | earned demand  | sold
turbine.c   | income        | last   | return 0.5 * earned - demand;              | demand cents   |
ledger.c    | shortage      | first  | double missing = demand - supply;          | demand supply  | missing
ledger.c    | shortage      | branch | missing -= 2.0 * base;                     | supply demand  | missing
ledger.c    | shortage      | last   | return missing;                            | supply base    |
ledger.c    | rate          | first  | double step = 5.0 * missing;               | missing step   | step
ledger.c    | rate          | last   | return step;                               | step missing   |
ledger.c    | penalty       | middle | double per = rate(missing);                | demand missing | per
ledger.c    | penalty       | loop   | owed += fine;                              | fine demand    | owed
ledger.c    | penalty       | last   | return owed + missing;                     | missing demand |
ledger.c    | balance       | middle | left += 4096.0;                            | owed earned    | left
ledger.c    | balance       | last   | return left - 2.0 * owed;                  | earned owed    |
reservoir.c | inflow        | first  | double fast = runoff(rain, season);        | rain season    | fast
reservoir.c | inflow        | last   | water += routed(fast, season);             | season slow    | water
reservoir.c | inflow        | last   | return wrapped(water);                     | fast rain      |
reservoir.c | stored        | first  | double volume = 0.5 * water + 3.0 * season; | water season  | volume
reservoir.c | stored        | last   | return wrapped(volume);                    | season water   |
reservoir.c | season_volume | first  | double fallen = whole(rain);               | fallen fallen  | fallen
reservoir.c | season_volume | middle | double water = inflow(fallen, season);     | season fallen  | water
reservoir.c | season_volume | last   | return volume + DATUM;                     | season water   |
reservoir.c | season_income | middle | double out = wrapped(released(volume, asked)); | asked out  | out
reservoir.c | season_income | last   | double earned = income(energy, asked);     | asked out      | earned
reservoir.c | season_income | last   | return balance(earned, owed) + DATUM;      | out asked      |
";

pub fn sites() -> Vec<Site> {
    TABLE.trim().lines().map(site).collect()
}

fn site(row: &'static str) -> Site {
    let cells: Vec<&str> = row.split(" | ").map(str::trim).collect();
    let [file, function, place, anchor, operands, rest @ ..] = &cells[..] else { panic!("{row}") };
    let (a, b) = operands.trim_end_matches('|').trim().split_once(' ').unwrap();
    let place = match *place {
        "first" => Place::First,
        "middle" => Place::Middle,
        "last" => Place::Last,
        "loop" => Place::Loop,
        "branch" => Place::Branch,
        other => panic!("{other}"),
    };
    Site { file, function, place, anchor, operands: [a, b.trim()], into: rest.first().copied() }
}
