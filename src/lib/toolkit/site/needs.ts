import type { Missing } from '../../checklist/index.ts';
import { mapsOfPlaces, type Site } from '../../site/index.ts';

/** What a site file lacks for one command; nothing: it has it. */
export type Need = (site: Site) => readonly Missing[];

const unless =
  (has: (site: Site) => boolean, missing: Missing): Need =>
  (site) =>
    has(site) ? [] : [missing];

/** That the site file names the map of each of these places: the numbers alone are another place on another map. */
const withMaps = (placesOf: (site: Site) => Pick<Site, 'stations'> & { readonly dock?: Site['dock'] }): Need =>
  unless((site) => !mapsOfPlaces({ maps: site.maps, chassis: site.chassis, ...placesOf(site) }).includes(null), {
    key: 'maps',
    what: 'the map in which the stations or the dock were measured is missing, so the gateway drives to none of them',
    remedy: 'Run `gw site map --measured-on-it` beside the robot, on the map on which they were measured.',
  });

const section = (name: 'fleet' | 'tablet' | 'cloud' | 'enrolment', what: string): Need =>
  unless((site) => site[name] !== undefined, { key: name, what, remedy: `Add ${name} to the site file.` });

const isLookedFor = (tablet: Site['tablet']) => tablet !== undefined && tablet.host === undefined;

/** What commands need of a site file beyond what makes it valid. The checks of the checklists ask the same. */
export const needs = {
  cloud: section('cloud', 'no cloud endpoint is configured'),
  enrolment: section('enrolment', 'no enrolment endpoint is configured, so this device has no identity'),
  tablet: (site: Site) => [
    ...section('tablet', 'no tablet is configured')(site),
    ...unless(({ tablet, network }) => !isLookedFor(tablet) || network.robotSegment !== undefined, {
      key: 'network.robotSegment',
      what: 'the segment of the robot is missing, in which the tablet is looked for',
      remedy: 'Enter the range that was agreed with the IT.',
    })(site),
  ],
  fleet: section('fleet', 'no heartbeat is configured'),
  release: unless(({ cloud }) => cloud === undefined || cloud.release !== undefined, {
    key: 'cloud.release',
    what: 'no key of releases is configured, so every release is rejected',
    remedy: 'Add release with keyFile to cloud in the site file.',
  }),
  tunnel: unless(({ cloud }) => cloud === undefined || cloud.tunnel !== undefined, {
    key: 'cloud.tunnel',
    what: 'no tunnel service is configured, so remote support is impossible',
    remedy: 'Add tunnel with host to cloud in the site file.',
  }),
  storage: unless(({ cloud }) => cloud === undefined || cloud.storageUrl !== undefined, {
    key: 'cloud.storageUrl',
    what: 'no object storage is configured, so its line of the network stays open',
    remedy: 'Add storageUrl to cloud in the site file.',
  }),
  brokerHost: unless(({ cloud }) => cloud === undefined || cloud.mqtt.host !== undefined, {
    key: 'cloud.mqtt.host',
    what: 'no broker is configured with which that of the enrolment could be compared',
    remedy: 'Add mqtt with host to cloud in the site file.',
  }),
  robotSegment: unless(({ network }) => network.robotSegment !== undefined, {
    key: 'network.robotSegment',
    what: 'the segment of the robot is missing',
    remedy: 'Enter the range that was agreed with the IT.',
  }),
  gatewayAddress: unless(({ network }) => network.gateway !== undefined, {
    key: 'network.gateway',
    what: 'the address of the gateway in the robot segment is missing',
    remedy: 'Enter the address of its DHCP reservation.',
  }),
  passwordFile: unless(({ operator }) => operator.passwordFile !== undefined, {
    key: 'operator.passwordFile',
    what: 'no device password is set, so signing in is impossible',
    remedy: 'Set one with `gw operator password`, and enter its file there.',
  }),
  chassisMac: unless(({ chassis }) => chassis.mac !== undefined, {
    key: 'chassis.mac',
    what: 'the MAC address of the chassis is missing',
    remedy: 'Enter chassis.mac from the label.',
  }),
  dock: unless(({ dock }) => dock !== undefined, {
    key: 'dock',
    what: 'the pose of the dock is missing',
    remedy: 'Measure it, and enter it as dock.',
  }),
  stations: unless(({ stations }) => Object.keys(stations).length > 0, {
    key: 'stations',
    what: 'no station is named, so no drive has a destination',
    remedy: 'Measure them on site, and enter each in stations.',
  }),
  maps: withMaps((site) => site),
  mapOfDock: withMaps(({ dock }) => ({ stations: {}, dock })),
  tours: unless(({ tours }) => Object.keys(tours).length > 0, {
    key: 'tours',
    what: 'no tour is defined',
    remedy: 'Add tours with the names of their stations.',
  }),
  tour: (name: string): Need =>
    unless(({ tours }) => Object.hasOwn(tours, name), {
      key: `tours.${name}`,
      what: `the tour '${name}' is missing`,
      remedy: `Add the tour '${name}' to the site file.`,
    }),
  mapsOfTour: (name: string): Need =>
    withMaps(({ tours, stations }) => {
      const names = Object.hasOwn(tours, name) ? (tours[name]?.stations ?? []) : [];
      return { stations: Object.fromEntries(Object.entries(stations).filter(([station]) => names.includes(station))) };
    }),
} as const;

/** What a site file is for, beyond the chassis that every one has. */
export const purposes: readonly { readonly id: string; readonly title: string; readonly needs: readonly Need[] }[] = [
  { id: 'drive', title: 'drive', needs: [needs.stations, needs.maps, needs.tours, needs.dock] },
  { id: 'operator-page', title: 'operator page', needs: [needs.passwordFile] },
  { id: 'cloud', title: 'cloud', needs: [needs.enrolment, needs.cloud, needs.release, needs.tunnel] },
  { id: 'tablet', title: 'tablet', needs: [needs.tablet] },
  { id: 'other-robots', title: 'other robots', needs: [needs.fleet] },
];
