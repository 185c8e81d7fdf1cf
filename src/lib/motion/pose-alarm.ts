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
 * until it is. An unreadable file counts as raised.
 */
export function createPoseAlarm({ stateDir, clock, log, onChange }: Options) {
  const file = createKeptFile(stateDir, 'pose-alarm.json', 'pose alarm', MAX_BYTES);
  const { path } = file;
  let alarms: readonly PoseAlarmView[] = [{ reason: 'The pose alarm has not been read yet.', since: null, map: null }];
  /** What the file holds; null: not known. */
  let onDisk: readonly PoseAlarmView[] | null = null;
  let isRead = false;
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

  function become(next: readonly PoseAlarmView[]): void {
    alarms = next;
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

  async function read(): Promise<void> {
    if (isRead) return;
    const found = await file.read(parsePoseAlarms, []);
    if (typeof found === 'string') {
      const reason = `The pose alarm cannot be read from ${path} (${found}), which counts as a wrong pose.`;
      if (alarms[0]?.reason !== reason)
        log.error({ path, found }, 'the pose alarm cannot be read and counts as raised');
      become([{ reason: reason.slice(0, MAX_CHARACTERS), since: null, map: null }]);
      return;
    }
    isRead = true;
    onDisk = found;
    become(found);
  }

  /** Throws FILE_UNWRITABLE; what is in memory is then saved again. */
  async function save(alarmsNow: () => readonly PoseAlarmView[]): Promise<void> {
    try {
      await inTurn(async () => {
        const next = alarmsNow();
        onDisk = null;
        await (next.length === 0 ? file.remove() : file.write(encodePoseAlarms(next)));
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
    await save(() => alarms).catch(() => {});
  }

  async function check(): Promise<void> {
    if (!isRead) return inTurn(read).catch(() => {});
    if (onDisk === alarms && alarms.length > 0 && !(await file.isThere())) {
      onDisk = null;
      setTrouble(new GwError('FILE_UNWRITABLE', `The file of the pose alarm, ${path}, was removed.`));
    }
    if (onDisk === alarms) setTrouble(null);
    else await saveAgain();
  }

  return {
    /** The newest alarm that counts on the current map; while that is not known, the newest of all. */
    state(values: Pick<LiveValues, 'map'>): PoseAlarmView | null {
      const now = frameNow(values);
      return alarms.findLast(({ map }) => map == null || now === null || map.uid === now.uid) ?? null;
    },

    /** The alarms of all maps, oldest first. */
    all: (): readonly PoseAlarmView[] => alarms,

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
     * `map`: on which the pose was set; null: not known. Resolves when it is on the disk. Throws FILE_UNWRITABLE; it holds
     * in memory then.
     */
    async raise(reason: string, map: PlaceMap | null): Promise<void> {
      // An alarm of another map in a file that was not read yet must not be written over.
      if (!isRead) await inTurn(read);
      isRead = true;
      const others = alarms.filter((alarm) => (alarm.map?.uid ?? null) !== (map?.uid ?? null));
      const isKept = others.filter((alarm) => alarm.map != null).length < MAX_MAPS;
      const since = clock.wall().toISOString();
      const raised = { reason: reason.slice(0, MAX_CHARACTERS), since, map: isKept ? map : null };
      become([...(isKept ? others : others.filter((alarm) => alarm.map != null)), raised]);
      log.warn({ reason, map: map?.title ?? null }, 'the pose of the robot is wrong or not known: no drive passes');
      await save(() => alarms);
    },

    /**
     * A pose was set on this map and reported back: also ends an alarm whose map is not known. Throws FILE_UNWRITABLE: then it
     * stays raised.
     */
    async clear(map: PlaceMap | null): Promise<void> {
      const next = alarms.filter((alarm) => alarm.map != null && alarm.map.uid !== map?.uid);
      if (next.length === alarms.length) return;
      await save(() => next);
      isRead = true;
      log.info({ map: map?.title ?? null }, 'the pose of the robot was set and reported back');
      become(next);
    },

    /** The alarms of before a pose that was not sent. Never rejects: what is not saved is saved again. */
    async restore(before: readonly PoseAlarmView[]): Promise<void> {
      become(before);
      await saveAgain();
    },
  };
}

export type PoseAlarm = ReturnType<typeof createPoseAlarm>;

function hung(path: string): GwError {
  return new GwError('FILE_UNWRITABLE', `Disk access to ${path} timed out: the pose alarm cannot be saved.`, {
    remedy: 'Check the disk of this machine (`dmesg`, `df`); if that does not help, restart the machine.',
  });
}
