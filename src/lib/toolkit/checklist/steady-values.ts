/**
 * Values of a record that differ at every run: times, durations and ages, rates within their scatter, ids of a run,
 * folders. Project decision; a record states only name, unit and content of a value.
 */

/** Units of durations and ages: judged by a verdict, and different at every run. */
const durationUnits: ReadonlySet<string> = new Set(['ns', 'µs', 'us', 'ms', 's', 'min', 'h', 'd']);
const rateUnits: ReadonlySet<string> = new Set(['Hz', '1/s', '/s']);
/** Rates of a steady source scatter by less than 25 %. */
const RATE_SCATTER = 0.25;

/** Names of ids that are new for every run, order or boot. */
const idOfRun =
  /(^|[-_.]|[a-z](?=[A-Z]))(run|request|session|job|action|move|order|boot|trace|message)[-_]?u?u?id$|(^|[-_.])pid$/i;
/** Names of times that are properties of a thing and not of the run. */
const timeOfThing = /until|not-?(after|before)|expir|valid/i;

export interface ReadValue {
  readonly value: number | string | boolean;
  readonly unit: string | null;
}

/** Whether two values of the same name differ only as any two runs do. Ignores units and marks. */
export function isSteady(name: string, from: ReadValue, to: ReadValue): boolean {
  const [a, b] = [from.value, to.value];
  if (a === b) return true;
  if (typeof a !== typeof b) return false;
  if (idOfRun.test(name)) return true;
  if (typeof a === 'number' && typeof b === 'number') return isSteadyNumber(a, b, to.unit);
  if (typeof a !== 'string' || typeof b !== 'string') return false;
  return steadyText(a, name) === steadyText(b, name);
}

function isSteadyNumber(a: number, b: number, unit: string | null): boolean {
  if (unit === null) return false;
  if (durationUnits.has(unit)) return true;
  return rateUnits.has(unit) && Math.abs(a - b) <= RATE_SCATTER * Math.max(Math.abs(a), Math.abs(b));
}

/** The text with everything that differs at every run replaced by a placeholder. `name`: name of the value. */
export function steadyText(text: string, name = ''): string {
  const times = timeOfThing.test(name)
    ? text
    : text
        .replace(/\b\d{4}-?\d\d-?\d\d[T ]\d\d[:-]?\d\d([:-]?\d\d([.,]\d+)?)?(Z|[+-]\d\d:?\d\d)?(?![\w:])/g, '<time>')
        .replace(/(?<![\w:.])\d\d:\d\d:\d\d([.,]\d+)?(?![\w:])/g, '<time>');
  return times
    .replace(/(?<![\w.,])\d+([.,]\d+)?\s?(ns|µs|us|ms|s|min|h|d|seconds?|minutes?|hours?|days?)\b/g, '<duration>')
    .replace(/(?<![\w:/.])(~|\.{1,2}|[A-Za-z]:)?([/\\][^\s/\\'"]+)*[/\\](?=[^\s/\\'"])/g, '');
}

/** Whether a text is only a number, as an expectation quotes what it found. */
export function isBareNumber(text: string): boolean {
  return text.trim() !== '' && Number.isFinite(Number(text));
}
