import { type ChassisIdentity, isSimulated } from '../../chassis/index.ts';
import type { Clock } from '../../lifecycle/index.ts';
import type { TrialRequest, TrialView } from './model.ts';

/** A trial from its request to its end. */
export interface RunningTrial {
  readonly request: TrialRequest;
  readonly beganMs: number;
  lastKeepAliveMs: number;
  readonly ending: AbortController;
  done: Promise<void>;
  readonly view: Omit<TrialView, 'startedAgoMs'>;
  change(to: Partial<TrialView>): void;
  /** Its view with the time since its start. */
  published(): TrialView;
}

interface Opening {
  /** The chassis that it begins with; null: none is connected. */
  readonly identity: ChassisIdentity | null;
  readonly clock: Clock;
  /** How many trials there were before; part of its id. */
  readonly count: number;
  readonly onChange: () => void;
}

/** A trial that was requested now. */
export function openTrial(request: TrialRequest, { identity, clock, count, onChange }: Opening): RunningTrial {
  const when = clock.wall().toISOString();
  const chance = Math.floor(clock.random() * 0xffff_ffff)
    .toString(16)
    .padStart(8, '0');
  const id = `${when.replace(/[-:]|\.\d+/g, '')}-${request.kind}-${count}-${chance}`;
  const beganMs = clock.monotonicMs();
  let view: RunningTrial['view'] = {
    ...{ id, kind: request.kind, who: request.who.trim(), state: 'running' },
    ...{ phase: 'Starting.', alarm: null, outcome: null, reason: null },
    ...{ serial: identity?.serial ?? null, software: identity?.software ?? null },
    simulated: identity !== null && isSimulated(identity),
    ...{ facts: [], refusals: [], notes: [], report: null, recorded: [] },
  };
  return {
    request,
    beganMs,
    lastKeepAliveMs: beganMs,
    ending: new AbortController(),
    done: Promise.resolve(),
    get view() {
      return view;
    },
    change(to) {
      view = { ...view, ...to };
      onChange();
    },
    published: () => ({ ...view, startedAgoMs: Math.round(clock.monotonicMs() - beganMs) }),
  };
}
