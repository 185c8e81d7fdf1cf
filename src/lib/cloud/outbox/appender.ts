import { GwError } from '../../error/index.ts';
import { MAX_BATCH_MESSAGES, MAX_WAITING_BYTES, maxBatchBytes } from './limits.ts';
import type { NewMessage } from './store/model.ts';
import type { StoreFailure } from './thread/messages.ts';
import type { StoreThread } from './thread/store-thread.ts';

export interface AppenderOptions {
  readonly path: string;
  readonly maxBytes: number;
  readonly thread: Pick<StoreThread, 'call'>;
  /** Called with each accepted message. */
  readonly onAccepted: (message: NewMessage, seq: number) => void;
}

/** Commits messages in groups: those that arrive while one commit runs share the next one. */
export interface Appender {
  append(message: NewMessage): Promise<number>;
  /** Rejects the messages that no transaction holds yet. */
  rejectWaiting(error: GwError): void;
  /** Rejects all messages, also those of the open transaction. */
  rejectAll(error: GwError): void;
}

interface Waiting {
  readonly message: NewMessage;
  readonly bytes: number;
  readonly resolve: (seq: number) => void;
  readonly reject: (error: GwError) => void;
}

export function createAppender({ path, maxBytes, thread, onAccepted }: AppenderOptions): Appender {
  let waiting: Waiting[] = [];
  let waitingBytes = 0;
  let committing: readonly Waiting[] = [];
  let isCommitting = false;

  function nextBatch(): Waiting[] {
    const limit = maxBatchBytes(maxBytes);
    let bytes = 0;
    let count = 0;
    for (const { bytes: more } of waiting) {
      if (count > 0 && (count >= MAX_BATCH_MESSAGES || bytes + more > limit)) break;
      bytes += more;
      count += 1;
    }
    waitingBytes -= bytes;
    return waiting.splice(0, count);
  }

  function rejectWaiting(error: GwError): void {
    const rejected = waiting;
    waiting = [];
    waitingBytes = 0;
    for (const { reject } of rejected) reject(error);
  }

  async function commit(): Promise<void> {
    while (waiting.length > 0) {
      const batch = nextBatch();
      committing = batch;
      const outcome = await thread.call('append', { messages: batch.map(({ message }) => message) });
      committing = [];
      for (const [index, { message, resolve, reject }] of batch.entries()) {
        if (outcome.kind === 'failed') reject(unwritable(path, outcome.failure));
        else if (outcome.kind === 'ended') reject(unknown(path, outcome.text));
        else {
          const result = outcome.result[index];
          if (result !== undefined && 'seq' in result) {
            onAccepted(message, result.seq);
            resolve(result.seq);
          } else {
            const why = result?.refused ?? 'the store gave no answer to it';
            reject(new GwError('OUTBOX_REFUSED', `A message of class ${message.class} for ${message.topic}: ${why}.`));
          }
        }
      }
    }
    isCommitting = false;
  }

  return {
    append(message) {
      const bytes = message.bodyJson.length + message.topic.length;
      if (waitingBytes + bytes > MAX_WAITING_BYTES) {
        const why = `${waiting.length} messages wait for the disk already`;
        return Promise.reject(
          new GwError('OUTBOX_REFUSED', `A message of class ${message.class} for ${message.topic}: ${why}.`),
        );
      }
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      waiting.push({ message, bytes, resolve, reject });
      waitingBytes += bytes;
      if (!isCommitting) {
        isCommitting = true;
        // After all appends of this turn of the event loop, so that they share the commit.
        queueMicrotask(() => void commit());
      }
      return promise;
    },

    rejectWaiting,
    rejectAll(error) {
      rejectWaiting(error);
      // A promise that is rejected stays so when the answer comes after all.
      for (const { reject } of committing) reject(error);
    },
  };
}

function unwritable(path: string, { text }: StoreFailure): GwError {
  return new GwError('FILE_UNWRITABLE', `The outbox ${path} cannot be written to: ${text}.`);
}

/** The disk has not answered within the timeout. */
export function silent(path: string): GwError {
  return new GwError('FILE_UNWRITABLE', `The outbox ${path} cannot be written to: the disk does not answer.`);
}

function unknown(path: string, text: string): GwError {
  return new GwError(
    'FILE_UNWRITABLE',
    `The thread of the outbox ${path} ended while it wrote a message (${text}); whether the message is kept is not known.`,
  );
}
