import { asGwError } from '../../error/index.ts';
import type { Log } from '../../lifecycle/index.ts';
import type { KeepingTrouble } from '../model.ts';

/** Why a stop could not be saved now. Only a change of it is logged and reported. */
export function createKeepingTrouble(path: string, log: Log, onChange: () => void) {
  let trouble: KeepingTrouble | null = null;

  return {
    /** null while it could. */
    current: (): KeepingTrouble | null => trouble,

    set(error: unknown): void {
      const { message, remedy } = asGwError(error);
      if (trouble?.reason === message) return;
      trouble = { reason: message, remedy };
      log.error({ path, reason: message }, 'the stop latch cannot be saved: no order passes until it can');
      onChange();
    },

    clear(): void {
      if (trouble === null) return;
      trouble = null;
      log.info({ path }, 'the stop latch can be saved again');
      onChange();
    },
  };
}
