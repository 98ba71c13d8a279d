import almanac from '../../../../samples/almanac.pdf';
import chelsea from '../../../../samples/chelsea.png';
import coffee from '../../../../samples/coffee.png';
import hotDog from '../../../../samples/hot_dog.jpg';
import lighthouses from '../../../../samples/lighthouses.md';
import rocket from '../../../../samples/rocket.jpg';
import tea from '../../../../samples/tea.txt';

/** Served with the page, by the names of the tree. */
const SAMPLES: Readonly<Record<string, string>> = {
  'almanac.pdf': almanac,
  'lighthouses.md': lighthouses,
  'tea.txt': tea,
  'chelsea.png': chelsea,
  'coffee.png': coffee,
  'hot_dog.jpg': hotDog,
  'rocket.jpg': rocket,
};

/** Searches that the samples answer. */
export const SAMPLE_SEARCHES: readonly string[] = [
  'how do bees tell each other where food is',
  'a cat',
  'rocket launch',
  '“waggle dance”',
];

/** @throws Error when one cannot be had */
export function fetchSamples(): Promise<File[]> {
  return Promise.all(
    Object.entries(SAMPLES).map(async ([name, path]) => {
      const response = await fetch(path);
      if (!response.ok) throw new Error(`The sample ${name} cannot be had (status ${response.status}).`);
      return new File([await response.blob()], name);
    }),
  );
}

export function isSample(name: string): boolean {
  return Object.hasOwn(SAMPLES, name);
}
