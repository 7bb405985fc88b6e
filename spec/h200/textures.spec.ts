/** Textures against an NVIDIA H200, bit for bit: coordinates, address modes, layers, levels, formats and filters (`scripts/record/textures`). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Job, recordedJobs, TextureJobs } from '../support/texture-jobs.ts';

const test = suite('h200/textures');
const jobs = recordedJobs();
const kindOf = ({ form }: Job): string => form.slice(form.indexOf('_') + 1);
const texts = (words: Uint32Array): string[] => [...words].map((word) => word.toString(16));

for (const kind of [...new Set(jobs.map(kindOf))]) {
  const own = jobs.filter((job) => kindOf(job) === kind);
  test(`${kind}: ${own.length} textures`, () => {
    const device = new TextureJobs();
    for (const job of own) assert.equal(texts(device.results(job)), texts(job.results), job.line);
  });
}

test.run();
