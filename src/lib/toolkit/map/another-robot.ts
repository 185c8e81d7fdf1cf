import { asGwError } from '../../error/index.ts';
import { type EvidenceRecord, loadEvidenceFile } from '../../evidence/index.ts';
import type { RestorePlan } from '../../maps/index.ts';
import { mapOfPlace, type Site } from '../../site/index.ts';
import type { MapRestore } from './change.result.ts';

type AnotherRobot = NonNullable<MapRestore['fromAnotherRobot']>;

/**
 * What a copy of another robot's maps leaves to do on this one: its trials were driven on other maps, no record of the
 * other robot counts here, and the places of the site file may be those that the other robot measured. An evidence file
 * that cannot be read is a result.
 */
export async function viewAnotherRobot(
  {
    evidenceFile,
    stations,
    dock,
    maps,
    chassis,
  }: Pick<Site, 'evidenceFile' | 'stations' | 'dock' | 'maps' | 'chassis'>,
  { serial, robot, plan }: { readonly serial: string; readonly robot: string; readonly plan: RestorePlan },
): Promise<AnotherRobot> {
  const { factsDecidedBy, trialKinds } = await import('../../motion/index.ts');
  let records: readonly EvidenceRecord[] = [];
  let problem: string | null = null;
  try {
    records = await loadEvidenceFile(evidenceFile);
  } catch (error) {
    problem = asGwError(error).message;
  }
  const recordedBy = (wanted: string) => records.filter((record) => record.serial === wanted);
  const own = new Set(recordedBy(robot).map(({ fact }) => fact));
  const copied = new Set(plan.maps.flatMap(({ archived }) => archived.uid ?? []));
  const places = [
    ...Object.entries(stations).map(([name, at]) => ({ name, at })),
    ...(dock === undefined ? [] : [{ name: 'the dock', at: dock }]),
  ];
  return {
    serial,
    notCounting: [...new Set(recordedBy(serial).map(({ fact }) => fact))].sort(),
    evidenceProblem: problem,
    trials: trialKinds.flatMap((kind) => {
      if (kind === 'dock' && dock === undefined) return [];
      const facts = [...factsDecidedBy[kind]];
      return [{ kind, facts, recordedBefore: facts.filter((fact) => own.has(fact)) }];
    }),
    places: places.filter(({ at }) => copied.has(mapOfPlace({ maps, chassis }, at)?.uid ?? '')).map(({ name }) => name),
  };
}
