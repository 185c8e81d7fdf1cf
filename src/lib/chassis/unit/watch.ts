import type { Log } from '../../lifecycle/index.ts';
import type { PoseSample } from '../pose-sample.ts';
import { createUnitJudge } from './judge.ts';

/** Judges the unit of one chassis over its connections, and logs what contradicts the measured one. */
export function createUnitWatch(log: Log) {
  let judge = createUnitJudge();
  let isContradicted = false;
  let doubt: string | null = null;
  return {
    /** Whether radians were proven; holds until the end of the process. */
    get isContradicted(): boolean {
      return isContradicted;
    },
    get doubt(): string | null {
      return doubt;
    },
    verdict: () => judge.verdict(),
    /** The connection was lost: later poses do not continue the earlier ones. */
    interrupt(): void {
      judge.interrupt();
    },
    /** The earlier verdict does not hold any more; a contradiction does. */
    restart(): void {
      if (isContradicted) return;
      judge = createUnitJudge();
      doubt = null;
    },
    add(pose: PoseSample): void {
      if (isContradicted) return;
      judge.add(pose);
      const now = judge.verdict();
      if (now.doubt !== doubt) {
        doubt = now.doubt;
        if (doubt === null) log.info({}, `/tracked_pose carries ${now.verdict}: ${now.reason}`);
        else log.warn({}, `unit of /tracked_pose is in doubt (degrees were measured): ${doubt}`);
      }
      if (now.verdict !== 'radians') return;
      isContradicted = true;
      log.error({}, `/tracked_pose carries radians, measured were degrees: ${now.reason}`);
    },
  };
}
