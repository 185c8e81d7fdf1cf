import type { Sight } from '../../incident/index.ts';
import type { Live, PageState } from '../../pages/index.ts';

/** What an incident keeps of a state of the pages: nothing that changes all the time. */
export function sightOf(
  state: Omit<PageState, 'id' | 'build' | 'time' | 'timeZone' | 'clock' | 'site' | 'screen'>,
): Sight {
  const { headline, link, stop, standing, stopPath, gate, lamps, planning } = state;
  const { saved: _saved, ...stopped } = stop;
  const { id: _id, forMs = null, failure = null, ...run } = state.run ?? {};
  return {
    linkForMs: link.forMs,
    runForMs: forMs,
    runFailure: failure && { offM: failure.offM, offDeg: failure.offDeg },
    scene: {
      headline,
      link: { kind: link.kind, failure: link.failure },
      stop: stopped,
      standing,
      stopPath,
      gate: { isOpen: gate.isOpen, notes: gate.notes },
      run: state.run === null ? null : (run as NonNullable<Sight['scene']['run']>),
      battery: kept(state.battery),
      positioning: kept(state.positioning),
      wheels: kept(state.wheels),
      planning: kept({ ...planning, value: planning.value && { ...planning.value, remainingDistanceM: null } }),
      alerts: kept(state.alerts),
      map: kept(state.map),
      lamps: lamps.map(({ id, level }) => ({ id, level })),
    },
  };
}

function kept<T>({ value, isUnreadable, stale, doubts }: Live<T>) {
  return { value, isUnreadable, stale, doubts };
}
