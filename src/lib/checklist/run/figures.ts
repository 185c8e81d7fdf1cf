import { type Basis, bases, basisOf, type Mark, marks } from '../../evidence/index.ts';
import type { MeasureStep, RunStep, WantedValue } from '../file/step.ts';
import { plainText } from '../match/excerpt.ts';
import { lookUp } from '../match/path.ts';
import type { MeasuredValue } from '../run.result.ts';
import type { Answer } from './answers.ts';

/**
 * Measured values of a step for the record. A value with mark, source and unit in the result keeps them; a plain one gets
 * those of the checklist, or OFFEN without a mark there. A missing value is left out.
 */
export function figuresOf(step: RunStep, data: object): MeasuredValue[] {
  return step.values.flatMap((wanted) => {
    const result = lookUp(data, wanted.parts);
    const figure = result.exists ? figureOf(wanted, result.value, step.run) : undefined;
    return figure === undefined ? [] : [figure];
  });
}

function figureOf(wanted: WantedValue, found: unknown, run: string): MeasuredValue | undefined {
  const own = knownValue(found);
  const value = plainValue(own ? own.value : found);
  if (value === undefined) return undefined;
  return {
    name: wanted.name,
    value,
    unit: own?.unit ?? wanted.unit,
    ...evidenceOf(own, wanted),
    source: own?.source ?? `gw, check '${run}'`,
  };
}

function evidenceOf(own: Evidence | undefined, { mark }: WantedValue): Pick<MeasuredValue, 'mark' | 'basis'> {
  if (own) return { mark: own.mark, basis: own.basis };
  return { mark: mark ?? 'OFFEN', basis: basisOf(mark ?? 'OFFEN') };
}

interface Evidence {
  readonly value: unknown;
  readonly mark: Mark;
  readonly basis: Basis;
  readonly source: string;
  readonly unit: string | null;
}

function knownValue(found: unknown): Evidence | undefined {
  if (typeof found !== 'object' || found === null || !Object.hasOwn(found, 'value')) return undefined;
  const { value, mark, basis, source, unit } = found as Readonly<Record<string, unknown>>;
  const known = marks.find((one) => one === mark);
  if (known === undefined || typeof source !== 'string') return undefined;
  return {
    value,
    mark: known,
    basis: bases.find((one) => one === basis) ?? basisOf(known),
    source: plainText(source),
    unit: typeof unit === 'string' ? plainText(unit) : null,
  };
}

function plainValue(value: unknown): MeasuredValue['value'] | undefined {
  if (typeof value === 'string') return plainText(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  return typeof value === 'boolean' ? value : undefined;
}

/** The value that a person measured, with person and tool as its source. */
export function figureOfPerson(step: MeasureStep, answer: Answer): MeasuredValue[] {
  if (answer.value === null) return [];
  const who = answer.by ?? answer.initials ?? 'the technician';
  const source = `measured here by ${who}${step.tool === null ? '' : `, ${step.tool}`}`;
  return [{ name: step.id, value: answer.value, unit: step.unit, mark: step.mark, basis: basisOf(step.mark), source }];
}
