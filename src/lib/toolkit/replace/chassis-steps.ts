import {
  addressLines,
  endedLines,
  frameOfMap,
  hasIdentity,
  hasOthers,
  isGivenUp,
  mapsLines,
  OLD_MAPS,
  ofNew,
  oldEvidenceLine,
  oldMapsLines,
  otherRobotsLines,
  placesLines,
  positionLines,
  siteFileLines,
  siteRecordLine,
} from './chassis-looks.ts';
import type { ChassisRobot, ChassisSeen } from './chassis-robot.ts';
import { identityLines, recordLine, runningLines, trialLines, unitLine } from './robot-looks.ts';
import { line, type Step } from './step.ts';

/** The steps of a replaced chassis, in their order: a chassis without a map reports no pose, so the unit follows the maps. */
export function chassisSteps(robot: ChassisRobot): readonly Step<ChassisSeen>[] {
  return [
    {
      id: OLD_MAPS,
      title: 'Maps of the old chassis are saved',
      look: oldMapsLines,
      word: {
        question: 'Are the maps of the old chassis given up, because it answers no more and no backup is there?',
        // Only by its flag: maps are not given up by the way.
        isAsked: isGivenUp,
        mayOverrule: true,
      },
      act: (seen) => robot.backUp(seen),
    },
    {
      id: 'ended',
      title: 'The gateway of the old chassis has ended',
      look: endedLines,
      act: (seen) => robot.stop(seen),
    },
    {
      id: 'site-file',
      title: 'The site file names the new chassis',
      look: siteFileLines,
      act: (seen) => robot.editSite(seen),
    },
    {
      id: 'address',
      title: 'The new chassis has the address',
      look: addressLines,
      word: {
        question:
          "Did the customer's IT move the DHCP reservation to the MAC address of the new chassis (`gw network request`)?",
      },
    },
    {
      id: 'identity',
      title: 'The gateway has the identity of the new chassis',
      look: (seen) => ofNew(seen, () => identityLines(seen, seen.to)),
      act: (seen) => robot.enrol(seen),
    },
    {
      id: 'revoked',
      title: 'The identity of the old chassis is revoked',
      look: (seen) =>
        hasIdentity(seen) ? [] : [line('revoked', 'Identity', 'not-applicable', 'the site file names no cloud')],
      word: {
        question:
          'Did the cloud operator confirm that the certificate of the old serial number is revoked and its open jobs are closed?',
        isAsked: hasIdentity,
      },
    },
    {
      id: 'runs',
      title: 'The gateway runs for the new chassis',
      look: (seen) => ofNew(seen, () => runningLines(seen, seen.to)),
      act: (seen) => robot.start(seen),
    },
    { id: 'maps', title: 'The maps are on the new chassis', look: mapsLines, act: (seen) => robot.restore(seen) },
    {
      id: 'position',
      title: 'The position is set on the current map',
      look: positionLines,
      word: {
        question: 'Does the robot stand where the page shows it, after its map was selected and its position set?',
        frame: frameOfMap,
      },
    },
    {
      id: 'unit',
      title: 'The unit of the heading is decided',
      look: (seen) => ofNew(seen, () => [unitLine(seen, seen.unit)]),
    },
    {
      id: 'trials',
      title: 'The trials were repeated',
      look: (seen) => [...ofNew(seen, () => trialLines(seen, seen.to)), oldEvidenceLine(seen)],
    },
    {
      id: 'places',
      title: 'Stations and dock hold for the new chassis',
      look: placesLines,
      word: {
        question: 'Was each station and the dock approached under supervision with the new chassis, or measured anew?',
        frame: frameOfMap,
        isAsked: ({ site }) => Object.keys(site.stations).length > 0 || site.dock !== undefined,
      },
    },
    {
      id: 'other-robots',
      title: 'The other robots of the site name the new chassis',
      look: otherRobotsLines,
      word: {
        question:
          'Does fleet.robots in the site file of each other robot name the new serial number (`gw heartbeat check`)?',
        isAsked: hasOthers,
      },
    },
    {
      id: 'premises',
      title: 'Accepted at the premises',
      look: (seen) => ofNew(seen, () => [recordLine(seen, 'premises')]),
    },
    { id: 'site', title: 'Accepted on the site', look: (seen) => ofNew(seen, () => [siteRecordLine(seen)]) },
  ];
}
