/** Kernels of which an H200 has run samples: those of fixtures in folders, which the specs of their names compare. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { bodyOf, recordedJobs } from '../texture-jobs.ts';
import { kernelOf, type Trial } from '../wgmma.ts';

const folder = join(import.meta.dirname, '../../../fixtures/h200');
const read = (name: string): unknown => JSON.parse(gunzipSync(readFileSync(join(folder, name))).toString());

const textureKernel = (form: string): string => `.version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 t) {
  .reg .b64 %t; .reg .b32 %c<4>, %r<4>; .reg .f32 %f<4>, %l; ld.param.u64 %t, [t];\n${bodyOf(form)}\nret;\n}\n`;

export function* sampledKernels(): Generator<string> {
  for (const form of new Set(recordedJobs().map((job) => job.form))) yield textureKernel(form);
  for (const { trial } of (read('wgmma/trials.json.gz') as { trials: { trial: Trial }[] }).trials)
    yield kernelOf({ ...trial, left: trial.left ?? undefined });
  for (const { ptx } of (read('wgmma/sparse.json.gz') as { products: { ptx: string }[] }).products) yield ptx;
}
