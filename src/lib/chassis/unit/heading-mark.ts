import { factById } from '../../evidence/index.ts';
import type { LiveValues, PoseUnitVerdict } from '../model.ts';

/**
 * The live values with the mark of the heading on this device. Degrees in `/tracked_pose` are BELEGT only while its
 * samples raise no doubt: in doubt the heading is VORSICHT (plausible, without evidence), and once radians were proven
 * it is OFFEN, a number whose unit is not asserted. Project decision.
 */
export function markHeading(values: LiveValues, unit: PoseUnitVerdict, isContradicted: boolean): LiveValues {
  const { pose } = values;
  const why = isContradicted ? unit.reason : unit.doubt;
  if (why === null || pose.status !== 'received') return values;
  const mark = isContradicted ? 'OFFEN' : 'VORSICHT';
  const basis = isContradicted ? 'disagreement' : 'assumed';
  const { source } = factById('angles.tracked-pose-ori');
  const verdict = isContradicted ? 'contradicted by this chassis' : 'in doubt on this chassis';
  const heading = {
    mark,
    basis,
    source: `${source} (angles.tracked-pose-ori), ${verdict}: ${why}`,
    ...(!isContradicted && { unit: 'degrees' }),
  } as const;
  return {
    ...values,
    pose: {
      ...pose,
      mark,
      basis,
      source: `${pose.source}; ${verdict}`,
      ...(isContradicted && { unit: 'm' }),
      parts: { ...pose.parts, yawDeg: heading },
    },
  };
}
