import type { LiveValues } from '../chassis/index.ts';
import { asGwError, GwError } from '../error/index.ts';
import type { Clock, Log } from '../lifecycle/index.ts';
import type { PlaceMap } from '../site/index.ts';
import { createKeptFile } from './kept-file.ts';
import { frameNow } from './map-frame.ts';
import type { KeepingTrouble, PoseAlarmView } from './model.ts';
import { encodePoseAlarms, MAX_CHARACTERS, parsePoseAlarms } from './pose-alarm-file.ts';

/** Of the largest file: so many alarms with the longest texts. */
const MAX_BYTES = 128 * 1024;
/** Alarms of further maps lose their map, and so count on every one. Project decision. */
const MAX_MAPS = 8;
/** Interval of reading again what could not be read, and of saving again what is not saved. */
const CHECK_MS = 2_000;
/** A disk access that takes longer counts as failed. */
const HUNG_MS = 3_000;

interface Held {
  readonly alarms: readonly PoseAlarmView[];
  /** They count in place of those of the file; `text`: what it holds, null where it cannot be opened. */
  readonly unread: { readonly text: string | null } | null;
}

interface Options {
  readonly stateDir: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly onChange: () => void;
}

/**
 * Whether the pose of the robot is known to be wrong, or not known after a pose was sent, for each map on which that
 * happened: an alarm counts on its own map, without one on every map. It is raised on the disk before a pose is sent and
 * cleared when the chassis has reported it back: so it outlives a crash in between. What is not on the disk is saved again
 * until it is. An unreadable file counts as raised, and stays as it is until a pose is sent: a newer gw may read it.
 */
export function createPoseAlarm({ stateDir, clock, log, onChange }: Options) {
  const file = createKeptFile(stateDir, 'pose-alarm.json', 'pose alarm', MAX_BYTES);
  const { path } = file;
  let held: Held = counted('The pose alarm has not been read yet.', null);
  /** What the file holds; null: not known. */
  let onDisk: Held | null = held;
  let trouble: KeepingTrouble | null = null;
  let queue: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  /** Serialises access to the file. Throws FILE_UNWRITABLE also for a disk that does not answer. */
  async function inTurn(work: () => Promise<void>): Promise<void> {
    const late = Promise.withResolvers<never>();
    using _limit = clock.after(HUNG_MS, () => late.reject(hung(path)));
    waiting += 1;
    const turn = queue.then(work).finally(() => {
      waiting -= 1;
    });
    queue = turn.catch(() => {});
    await Promise.race([turn, late.promise]);
  }

  function become(next: Held): void {
    held = next;
    onChange();
  }

  function setTrouble(error: unknown): void {
    const { message, remedy } = error === null ? { message: null, remedy: '' } : asGwError(error);
    if ((trouble?.reason ?? null) === message) return;
    trouble = message === null ? null : { reason: message, remedy };
    if (trouble === null) log.info({ path }, 'the pose alarm is saved again');
    else log.error({ path, reason: message }, 'the pose alarm is not saved: a restart of gw would forget it');
    onChange();
  }

  /** While what was withdrawn is not saved yet, the file may hold what must not return. */
  const isToRead = () => held.unread !== null && onDisk === held;

  async function read(): Promise<void> {
    if (!isToRead()) return;
    let text = null as string | null;
    const parse = (content: string) => {
      text = content;
      return parsePoseAlarms(content);
    };
    const found = await file.read(parse, []);
    if (typeof found === 'string') {
      const reason = `The pose alarm cannot be read from ${path} (${found}), which counts as a wrong pose.`;
      const next = counted(reason, text);
      if (held.alarms[0]?.reason !== next.alarms[0]?.reason)
        log.error({ path, found }, 'the pose alarm cannot be read and counts as raised');
      onDisk = next;
      become(next);
      return;
    }
    onDisk = known(found);
    become(onDisk);
  }

  /** Throws FILE_UNWRITABLE; what is in memory is then saved again. */
  async function save(heldNow: () => Held): Promise<void> {
    try {
      await inTurn(async () => {
        const next = heldNow();
        const { alarms, unread } = next;
        onDisk = null;
        if (unread === null && alarms.length === 0) await file.remove();
        else await file.write(unread?.text ?? encodePoseAlarms(alarms));
        onDisk = next;
      });
      setTrouble(null);
    } catch (error) {
      setTrouble(error);
      throw error;
    }
  }

  /** Never rejects. */
  async function saveAgain(): Promise<void> {
    await save(() => held).catch(() => {});
  }

  async function raise(reason: string, map: PlaceMap | null): Promise<void> {
    const others = held.alarms.filter((alarm) => (alarm.map?.uid ?? null) !== (map?.uid ?? null));
    const isKept = others.filter((alarm) => alarm.map != null).length < MAX_MAPS;
    const since = clock.wall().toISOString();
    const raised = { reason: reason.slice(0, MAX_CHARACTERS), since, map: isKept ? map : null };
    become(known([...(isKept ? others : others.filter((alarm) => alarm.map != null)), raised]));
    log.warn({ reason, map: map?.title ?? null }, 'the pose of the robot is wrong or not known: no drive passes');
    await save(() => held);
  }

  /** Never rejects: what is not saved is saved again. */
  async function withdraw(before: Held): Promise<void> {
    become(before);
    await saveAgain();
  }

  async function check(): Promise<void> {
    if (isToRead()) return inTurn(read).catch(() => {});
    if (onDisk === held && held.alarms.length > 0 && !(await file.isThere())) {
      onDisk = null;
      setTrouble(new GwError('FILE_UNWRITABLE', `The file of the pose alarm, ${path}, was removed.`));
    }
    if (onDisk === held) setTrouble(null);
    else await saveAgain();
  }

  return {
    /** The newest alarm that counts on the current map; while that is not known, the newest of all. */
    state(values: Pick<LiveValues, 'map'>): PoseAlarmView | null {
      const now = frameNow(values);
      return held.alarms.findLast(({ map }) => map == null || now === null || map.uid === now.uid) ?? null;
    },

    /** The alarms of all maps, oldest first. */
    all: (): readonly PoseAlarmView[] => held.alarms,

    /** Why it is not saved; null while it is. */
    trouble: (): KeepingTrouble | null => trouble,

    /** Never rejects. */
    load: (): Promise<void> => inTurn(read).catch(() => {}),

    /** Reads and saves again until it is disposed. */
    watch(): Disposable {
      let isChecking = false;
      return clock.every(CHECK_MS, () => {
        // A disk that does not answer gets one request.
        if (isChecking || waiting > 0) return;
        isChecking = true;
        void check().finally(() => {
          isChecking = false;
        });
      });
    },

    /**
     * Before a pose is sent on this map. Resolves when it is on the disk, with what withdraws it for a pose that was not
     * sent and never rejects. Throws FILE_UNWRITABLE: then the pose must not be sent, and no alarm is raised.
     */
    async raiseBefore(reason: string, map: PlaceMap | null): Promise<() => Promise<void>> {
      // An alarm of another map in a file that was not read yet must not be written over.
      await inTurn(read);
      const before = held;
      // It could not be put back.
      if (before.unread?.text === null) throw notOpened(path, before.alarms[0]?.reason ?? '');
      try {
        await raise(reason, map);
      } catch (error) {
        // Not awaited: a disk that hangs has just taken its time.
        void withdraw(before);
        throw error;
      }
      return () => withdraw(before);
    },

    /**
     * After a pose was sent. `map`: on which; null: not known. Resolves when it is on the disk. Throws FILE_UNWRITABLE; it
     * holds in memory then.
     */
    raise,

    /**
     * A pose was set on this map and reported back: also ends an alarm whose map is not known. Throws FILE_UNWRITABLE: then it
     * stays raised.
     */
    async clear(map: PlaceMap | null): Promise<void> {
      const next = held.alarms.filter((alarm) => alarm.map != null && alarm.map.uid !== map?.uid);
      if (next.length === held.alarms.length) return;
      const cleared = known(next);
      await save(() => cleared);
      log.info({ map: map?.title ?? null }, 'the pose of the robot was set and reported back');
      become(cleared);
    },
  };
}

export type PoseAlarm = ReturnType<typeof createPoseAlarm>;

function known(alarms: readonly PoseAlarmView[]): Held {
  return { alarms, unread: null };
}

/** Counts on every map: that of an alarm in the file is not known. */
function counted(reason: string, text: string | null): Held {
  return { alarms: [{ reason: reason.slice(0, MAX_CHARACTERS), since: null, map: null }], unread: { text } };
}

function notOpened(path: string, why: string): GwError {
  return new GwError('FILE_UNWRITABLE', why, {
    remedy: `Let gw own ${path} and its folder, and read and write both; if it does, check the disk of this machine (\`dmesg\`).`,
  });
}

function hung(path: string): GwError {
  return new GwError('FILE_UNWRITABLE', `Disk access to ${path} timed out: the pose alarm cannot be saved.`, {
    remedy: 'Check the disk of this machine (`dmesg`, `df`); if that does not help, restart the machine.',
  });
}
