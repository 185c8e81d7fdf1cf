import type { Clock } from '../../lifecycle/index.ts';
import type { Faults } from '../faults.ts';
import type { SimEvent } from '../sim.result.ts';
import type { Stages } from '../waiting.ts';

/** What every part of a simulator needs for its start. */
export interface PartStart {
  /** Takes what was started, at once. */
  readonly undo: AsyncDisposableStack;
  readonly stages: Stages;
  readonly onEvent: (event: SimEvent) => void;
  readonly clock: Clock;
  /** Those of the chassis, shared by all parts. */
  readonly faults: Faults;
  /** Of the robot. */
  readonly serial: string;
  /** Absolute folder of the files; undefined: none is written. */
  readonly dir: string | undefined;
}
