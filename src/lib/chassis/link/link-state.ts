import { asGwError, formatTried, type Tried } from '../../error/index.ts';
import { connectionFailureOf, failureDetail } from '../failure.ts';
import type { LinkState } from '../model.ts';

/** The link state for a connection error; an internal error is rethrown. */
export function linkStateOf(error: unknown, address: Tried): LinkState {
  const gwError = asGwError(error);
  if (gwError.code === 'INTERNAL') throw error;
  const tried = gwError.tried ?? address;
  if (gwError.code === 'CHASSIS_BOOTING') {
    const { progress, step } = gwError.details ?? {};
    return {
      kind: 'booting',
      progress: typeof progress === 'number' ? progress : null,
      step: typeof step === 'string' ? step : null,
      tried,
    };
  }
  const foundSerial = gwError.details?.foundSerial;
  return {
    kind: 'not-connected',
    failure: connectionFailureOf(error),
    detail: failureDetail(error),
    tried,
    ...(typeof foundSerial === 'string' && { foundSerial }),
  };
}

/** One line of text; names the address tried unless connected. */
export function describeLink(state: LinkState): string {
  switch (state.kind) {
    case 'connecting':
      return `connecting to ${formatTried(state.tried)}`;
    case 'not-connected':
      return `not connected: tried ${formatTried(state.tried)}: ${state.detail}`;
    case 'booting': {
      const done = state.progress === null ? '' : `, ${Math.round(state.progress * 100)} % done`;
      return `the chassis is starting${done}: ${formatTried(state.tried)}`;
    }
    case 'connected':
      return `connected: ${state.tried.address}:${state.tried.port}`;
  }
}
