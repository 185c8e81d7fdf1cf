import { failureKind, failureText } from '../store/failure.ts';
import type { SetAside } from '../store/model.ts';
import { finishSetAside, setAside } from '../store/set-aside.ts';
import { openStore, type Store, type StoreOptions } from '../store/store.ts';
import type { StoreCallName, StoreCalls, StoreFailure, StoreReply, StoreRequest } from './messages.ts';
import { packMessages } from './packed.ts';

/** The port of the thread, as far as it is used. */
export interface ThreadPort {
  on(event: 'message', listener: (request: StoreRequest) => void): void;
  postMessage(reply: StoreReply, transfer: readonly ArrayBuffer[]): void;
  close(): void;
}

/** The code of the worker thread: answers each request with one reply, and opens the store again after a failure. */
export function runStoreThread(port: ThreadPort, options: StoreOptions): void {
  let store: Store | null = null;
  /** Numbers that were given in this process are never given again, since their messages may be in flight. */
  let lastSeqs: readonly number[] = [];

  port.on('message', (request) => {
    const reply = answer(request);
    port.postMessage(reply, transferred(reply));
    if (request.name === 'close') port.close();
  });

  function answer(request: StoreRequest): StoreReply {
    const { ticket } = request;
    let aside: SetAside | null = null;
    for (;;) {
      try {
        const outcome = { result: call(request) };
        return { ticket, outcome, state: stateOrNull(), setAside: aside };
      } catch (error) {
        const failure = { kind: failureKind(error), text: failureText(error) };
        const isSecond = aside !== null;
        if ((failure.kind === 'corrupt' || failure.kind === 'other-robot') && !isSecond) {
          closeStore();
          try {
            aside = setAside({ ...options, kind: failure.kind, reason: failure.text, atMs: request.atMs, lastSeqs });
            continue;
          } catch (again) {
            const text = `unusable (${failure.text}), and it cannot be replaced: ${failureText(again)}`;
            return failed(ticket, { kind: failureKind(again), text }, null);
          }
        }
        if (!isFull(error)) closeStore();
        return failed(ticket, failure, aside);
      }
    }
  }

  /** What was done stays done when its state cannot be read; the next request meets the error itself. */
  function stateOrNull(): StoreReply['state'] {
    try {
      return store?.state() ?? null;
    } catch {
      return null;
    }
  }

  function failed(ticket: number, failure: StoreFailure, aside: SetAside | null): StoreReply {
    return { ticket, outcome: { failure }, state: null, setAside: aside };
  }

  function call({ name, request, atMs }: StoreRequest): StoreCalls[StoreCallName]['result'] {
    if (name === 'close') {
      closeStore();
      return null;
    }
    const opened = open();
    switch (name) {
      case 'append': {
        const results = opened.append(request.messages);
        lastSeqs = opened.lastSeqs();
        return results;
      }
      case 'page': {
        const { recordId } = request;
        const recordKey = recordId === null ? null : recordThinning(opened, recordId, atMs);
        lastSeqs = opened.lastSeqs();
        const { messages, isEnd, newestKey } = opened.page(request.class, request.after, request);
        return { messages: packMessages(messages), isEnd, newestKey, recordKey };
      }
      case 'remove':
        opened.remove(request.keys);
        return null;
      case 'probe':
        opened.probe();
        return null;
    }
  }

  /** On a disk that cannot be written to, messages can still be read and sent; the record is made later. */
  function recordThinning(opened: Store, id: string, atMs: number): number | null {
    try {
      return opened.recordThinning({ id, atMs });
    } catch (error) {
      if (failureKind(error) !== 'disk') throw error;
      return null;
    }
  }

  function open(): Store {
    if (store === null) {
      finishSetAside(options.path);
      store = openStore(options);
      lastSeqs = store.lastSeqs();
    }
    return store;
  }

  function closeStore(): void {
    try {
      store?.close();
    } catch {
      // The log of the database stays on the disk and is read at the next opening.
    }
    store = null;
  }
}

const SQLITE_FULL = 13;

/** Without free space the database stays open, so that messages can be read and sent. */
function isFull(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_FULL;
}

/** Payloads are handed over without a copy. */
function transferred({ outcome }: StoreReply): ArrayBuffer[] {
  if (!('result' in outcome) || outcome.result === null || !('messages' in outcome.result)) return [];
  return [outcome.result.messages.payloads.buffer];
}
