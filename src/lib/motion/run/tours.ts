import { degrees } from '../../angle/index.ts';
import { GwError } from '../../error/index.ts';
import { chosen } from '../../evidence/index.ts';
import { mapOfPlace, type Site } from '../../site/index.ts';
import type { Goal, Order } from '../model.ts';

/** A station of a tour with its order. */
export interface TourLeg {
  readonly station: string;
  readonly order: Order;
}

/**
 * The legs of a tour. Stations are the places that a person named in the site file, never points of the map, whatever
 * their type. Throws TOUR_UNKNOWN, SITE_FILE_INVALID.
 */
export function planTour(
  site: Pick<Site, 'path' | 'tours' | 'stations' | 'maps' | 'chassis'>,
  name: string,
): readonly TourLeg[] {
  const tour = Object.hasOwn(site.tours, name) ? site.tours[name] : undefined;
  if (!tour) {
    const names = Object.keys(site.tours);
    throw new GwError('TOUR_UNKNOWN', `The site file names no tour '${name}'.`, {
      remedy: names.length > 0 ? `Name one of: ${names.join(', ')}.` : 'Add a tour to the site file.',
    });
  }
  return tour.stations.map((station) => {
    const order = stationOrder(site, station);
    if (order === undefined) {
      throw new GwError(
        'SITE_FILE_INVALID',
        `${site.path}: tours.${name} names the station '${station}', which does not exist.`,
      );
    }
    return { station, order };
  });
}

/** The order that drives to a station, or undefined when the site file has no such station. */
export function stationOrder(site: Pick<Site, 'stations' | 'maps' | 'chassis'>, station: string): Order | undefined {
  const place = Object.hasOwn(site.stations, station) ? site.stations[station] : undefined;
  if (!place) return undefined;
  const { xM, yM, yawDeg } = place;
  const goal: Goal = { xM, yM, map: mapOfPlace(site, place), ...(yawDeg !== undefined && { yawDeg: degrees(yawDeg) }) };
  return { kind: 'move', goal: chosen(goal, `site file, stations.${station}`) };
}

/** The order that drives to the dock, or undefined when the site file has none. */
export function dockOrder(site: Pick<Site, 'dock' | 'maps' | 'chassis'>): Order | undefined {
  if (!site.dock) return undefined;
  const { xM, yM, yawDeg } = site.dock;
  return {
    kind: 'dock',
    goal: chosen({ xM, yM, yawDeg: degrees(yawDeg), map: mapOfPlace(site, site.dock) }, 'site file, dock'),
  };
}
