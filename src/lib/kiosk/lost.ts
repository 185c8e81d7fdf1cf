import { GwError } from '../error/index.ts';

export function lost(message: string): GwError {
  return new GwError('TABLET_LOST', message);
}
