import type { Outbox, OutgoingMessage } from '../../../src/lib/cloud/outbox/model.ts';

/** An outbox in memory; a test decides what it accepts and when it is empty. */
export function createMemoryOutbox() {
  const accepted: (OutgoingMessage & { readonly id: string })[] = [];
  let refusal: Error | null = null;
  let hold: Promise<void> | null = null;
  let kept = 0;
  let isOpen = true;
  const outbox: Pick<Outbox, 'append' | 'view'> = {
    async append(message) {
      await hold;
      if (refusal !== null) throw refusal;
      const id = `m${accepted.length + 1}`;
      // As on the wire.
      accepted.push({ ...message, body: JSON.parse(JSON.stringify(message.body)), id });
      if (message.class === 'shadow') kept += 1;
      return { id, seq: accepted.length };
    },
    view: () => ({
      status: isOpen ? 'open' : 'not-open',
      detail: '',
      remedy: null,
      kept: isOpen ? { record: 0, fault: 0, shadow: kept, telemetry: 0 } : null,
      ...{ bytes: 0, maxBytes: 1, oldestAt: null, accepted: accepted.length, acknowledged: 0, refused: 0, thinned: 0 },
    }),
  };
  return {
    outbox,
    accepted,
    of: (kind: OutgoingMessage['class']) => accepted.filter((message) => message.class === kind),
    refuse: (error: Error | null) => {
      refusal = error;
    },
    holdUntil: (until: Promise<void> | null) => {
      hold = until;
    },
    /** The broker has acknowledged everything. */
    drain: () => {
      kept = 0;
    },
    setOpen: (open: boolean) => {
      isOpen = open;
    },
  };
}
