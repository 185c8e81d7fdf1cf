import { quote } from '../../json/index.ts';
import type { Clock, Log } from '../../lifecycle/index.ts';
import { moveProgress } from '../closing.ts';
import { createLiveValues } from '../live-values.ts';
import type { ChassisPart, ChassisSnapshot } from '../model.ts';
import { createTrack } from '../standing/track.ts';
import type { TopicData, TopicMessage } from '../topics/message.ts';
import { markHeading } from '../unit/heading-mark.ts';
import { shownUnit } from '../unit/judge.ts';
import { createUnitWatch } from '../unit/watch.ts';
import { createComplaints } from './complaints.ts';

/** Complaints closer together than this notify the followers once. */
const COMPLAINTS_MS = 100;

interface ReceivedOptions {
  readonly clock: Clock;
  readonly log: Log;
  notify(changed: readonly ChassisPart[]): void;
  /** How long a message that arrives now may have been under way, in milliseconds. */
  delayMs(): number;
}

/** What one chassis has said over its connections, with what the poses of it prove. */
export function createReceived({ clock, log, notify, delayMs }: ReceivedOptions) {
  const complaints = createComplaints(clock);
  const values = createLiveValues(clock);
  const track = createTrack();
  const unit = createUnitWatch(log);
  let verdicts: { readonly standing: string; readonly unit: string } | undefined;
  /** By the newest message of this connection. */
  let isSaidToDrive = false;
  let soon: Disposable | undefined;

  /** Notifies in batches: a chassis may cause thousands of complaints a second. */
  function complain(what: string, isLate = false): void {
    complaints.add(what, isLate);
    soon ??= clock.after(COMPLAINTS_MS, () => {
      soon = undefined;
      notify(['complaints']);
    });
  }

  function onMessage(message: TopicMessage): void {
    switch (message.kind) {
      case 'enabled':
        return;
      case 'complaint':
        complain(message.what, message.isLate);
        // A value that became unreliable is notified at once.
        if (message.topic !== undefined) notify(values.reject(message.topic, message.what, message.said));
        return;
      case 'other':
        complain(`message of the topic ${quote(message.topic)}, which was not subscribed`);
        return;
      case 'data':
        onData(message);
    }
  }

  function onData(message: TopicData): void {
    if (message.topic === '/tracked_pose') {
      const { ori, pos } = message.data;
      const pose = { ori, xM: pos[0], yM: pos[1], atMs: clock.monotonicMs(), delayMs: Math.round(delayMs()) };
      track.add(pose, isSaidToDrive);
      unit.add(pose);
    }
    if (message.topic === '/planning_state') isSaidToDrive = moveProgress(message.data.move_state) === 'under-way';
    if (message.topic === '/map/info' && isOtherMap(message.data)) track.interrupt();
    const changed = values.update(message);
    notify([...(changed === null ? [] : [changed]), ...changedVerdicts()]);
  }

  /** Since they were last asked for. */
  function changedVerdicts(): readonly ChassisPart[] {
    const poseUnit = unit.verdict();
    const { verdict, shown, misfit, doubt } = poseUnit;
    const before = verdicts;
    verdicts = {
      standing: track.standing(clock.monotonicMs(), shownUnit(poseUnit)).verdict,
      unit: `${verdict} ${shown} ${misfit} ${doubt}`,
    };
    return [
      ...(before?.standing === verdicts.standing ? [] : (['standing'] as const)),
      ...(before?.unit === verdicts.unit ? [] : (['unit'] as const)),
    ];
  }

  /** The poses from here on do not continue those on the map of before. */
  function isOtherMap({ uid, map_version }: { readonly uid: string; readonly map_version: number | null }): boolean {
    const { map } = values.values();
    return map.status === 'received' && (map.value.uid !== uid || map.value.mapVersion !== map_version);
  }

  return {
    receive: onMessage,
    complain,
    /** Followers are not notified any more of complaints that wait for it. */
    stop(): void {
      soon?.[Symbol.dispose]();
      soon = undefined;
    },
    connect: () => values.connect(),
    disconnect(): void {
      values.disconnect();
      track.disconnect();
      isSaidToDrive = false;
    },
    /** Poses of another connection do not continue those of before. */
    interruptUnit: () => unit.interrupt(),
    /** Another software version may report another unit. */
    restartUnit: () => unit.restart(),
    /** A pose was set: the poses from here on do not continue those before. */
    poseWasSet: () => track.interrupt(),
    get isUnitInDoubt(): boolean {
      return unit.doubt !== null;
    },
    snapshot(): Pick<
      ChassisSnapshot,
      'values' | 'poses' | 'standing' | 'poseUnit' | 'unitContradicted' | 'complaints'
    > {
      const poseUnit = unit.verdict();
      return {
        values: markHeading(values.values(), poseUnit, unit.isContradicted),
        poses: track.poses(),
        standing: track.standing(clock.monotonicMs(), shownUnit(poseUnit)),
        poseUnit,
        unitContradicted: unit.isContradicted,
        complaints: complaints.list(),
      };
    },
  };
}
