import { GwError } from '../../error/index.ts';

/** The ADB connection to the tablet failed. */
export function tabletLost(message: string): GwError {
  return new GwError('TABLET_LOST', message);
}
