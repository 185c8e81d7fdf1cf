import type { Title } from '../../text/index.ts';
import type { PageState } from '../model.ts';
import type { Format } from '../texts/format.ts';
import type { Choice } from '../viewer.ts';

/**
 * What a question before a drive asks about, as a text to compare: whether the robot may drive and what stands in its way,
 * the target, and the map that it is a place of. Not what changes all the time: ages, the pose, the charge.
 */
export function situationOf(
  { site, headline, link, stop, gate, run, map, delivery }: PageState,
  choice: Choice,
): string {
  const placeOf = (name: string) => site.stations.find((station) => station.name === name) ?? null;
  const tour = 'name' in choice ? site.tours.find(({ name }) => name === choice.name) : undefined;
  const target =
    choice.kind === 'dock'
      ? site.dock
      : choice.kind === 'station' || choice.kind === 'next'
        ? placeOf(choice.name)
        : (tour?.stations.map((name) => [name, placeOf(name)]) ?? null);
  return JSON.stringify([
    [choice, target, tour?.title, map.value?.uid, map.value?.mapVersion],
    [headline.code, link.kind, stop.latched],
    [gate.isOpen, gate.notes.map(({ code }) => code), gate.passable.map(({ code }) => code)],
    run && [run.kind, run.name, run.state, run.at],
    choice.kind === 'next' && [delivery?.arrival?.id, delivery?.queue[0]],
  ]);
}

/** The place or tour of a choice by its title; empty for the charging station, which the texts name. */
export function choiceLabel(choice: Choice, { site, delivery }: PageState, f: Format): string {
  if (choice.kind === 'dock') return '';
  // A station of the queue may be of another map, and not be in the list.
  if (choice.kind === 'next') return f.named(choice.name, delivery?.queue.find(({ id }) => id === choice.id)?.title);
  const of: readonly { readonly name: string; readonly title?: Title }[] =
    choice.kind === 'station' ? site.stations : site.tours;
  return f.named(choice.name, of.find(({ name }) => name === choice.name)?.title);
}
