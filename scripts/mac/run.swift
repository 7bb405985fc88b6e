// Runs the jobs of a folder on this machine's Metal device: `swiftc scripts/mac/run.swift -o run && ./run FOLDER`.
// A job is a folder with `job.json` (see `jobs.ts`); beside it goes `result.json`, and for each buffer what it holds afterwards.
import CoreGraphics
import Foundation
import Metal

struct Slot: Decodable {
  let slot: Int
  let file: String
}

struct Job: Decodable {
  let library: String
  let kernel: String
  let grid: [Int]
  let block: [Int]
  let dynamicShared: Int
  let buffers: [Slot]
  let values: [Slot]
}

struct Outcome: Encodable {
  var good = false
  var message = ""
  var width = 0
  var maxThreads = 0
  var milliseconds = 0.0
}

struct Failure: Error, CustomStringConvertible {
  let description: String
}

func size(_ n: [Int]) -> MTLSize { MTLSize(width: n[0], height: n[1], depth: n[2]) }

func run(_ job: Job, in folder: URL, on device: MTLDevice, filling result: inout Outcome) throws {
  let library = try device.makeLibrary(URL: folder.appendingPathComponent(job.library))
  guard let function = library.makeFunction(name: job.kernel) else {
    throw Failure(description: "the library has no function \(job.kernel), but \(library.functionNames)")
  }
  let pipeline = try device.makeComputePipelineState(function: function)
  result.width = pipeline.threadExecutionWidth
  result.maxThreads = pipeline.maxTotalThreadsPerThreadgroup
  let threads = job.block.reduce(1, *)
  guard threads <= result.maxThreads else {
    throw Failure(description: "\(threads) threads, and at most \(result.maxThreads) for this kernel")
  }
  guard let queue = device.makeCommandQueue(), let commands = queue.makeCommandBuffer(),
    let encoder = commands.makeComputeCommandEncoder()
  else { throw Failure(description: "no command encoder") }
  encoder.setComputePipelineState(pipeline)
  var buffers: [(file: String, buffer: MTLBuffer, count: Int)] = []
  for slot in job.buffers {
    let bytes = try Data(contentsOf: folder.appendingPathComponent(slot.file))
    guard let buffer = device.makeBuffer(length: max(bytes.count, 16), options: .storageModeShared) else {
      throw Failure(description: "no buffer of \(bytes.count) bytes")
    }
    bytes.withUnsafeBytes { (from: UnsafeRawBufferPointer) -> Void in
      if let start = from.baseAddress { buffer.contents().copyMemory(from: start, byteCount: bytes.count) }
    }
    encoder.setBuffer(buffer, offset: 0, index: slot.slot)
    buffers.append((slot.file, buffer, bytes.count))
  }
  for slot in job.values {
    let bytes = try Data(contentsOf: folder.appendingPathComponent(slot.file))
    bytes.withUnsafeBytes { (from: UnsafeRawBufferPointer) -> Void in
      if let start = from.baseAddress { encoder.setBytes(start, length: bytes.count, index: slot.slot) }
    }
  }
  if job.dynamicShared > 0 { encoder.setThreadgroupMemoryLength(job.dynamicShared, index: 0) }
  encoder.dispatchThreadgroups(size(job.grid), threadsPerThreadgroup: size(job.block))
  encoder.endEncoding()
  commands.commit()
  commands.waitUntilCompleted()
  if let error = commands.error { throw error }
  result.milliseconds = (commands.gpuEndTime - commands.gpuStartTime) * 1000
  for (file, buffer, count) in buffers {
    try Data(bytes: buffer.contents(), count: count).write(to: folder.appendingPathComponent(file + ".out"))
  }
}

func jobs(below root: URL) -> [URL] {
  let all = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)?.allObjects as? [URL] ?? []
  return all.filter { $0.lastPathComponent == "job.json" }.sorted { $0.path < $1.path }
}

guard CommandLine.arguments.count == 2 else {
  print("run FOLDER")
  exit(2)
}
let root = URL(fileURLWithPath: CommandLine.arguments[1])
// A process that no window belongs to may have no default device.
guard let device = MTLCreateSystemDefaultDevice() ?? MTLCopyAllDevices().first else {
  print("this machine has no Metal device")
  exit(4)
}
let about = "\(device.name), macOS \(ProcessInfo.processInfo.operatingSystemVersionString)"
print(about)
try JSONSerialization.data(withJSONObject: ["device": about]).write(to: root.appendingPathComponent("device.json"))

for path in jobs(below: root) {
  let folder = path.deletingLastPathComponent()
  var result = Outcome()
  do {
    let job = try JSONDecoder().decode(Job.self, from: Data(contentsOf: path))
    try run(job, in: folder, on: device, filling: &result)
    result.good = true
  } catch {
    result.message = "\(error)"
  }
  try JSONEncoder().encode(result).write(to: folder.appendingPathComponent("result.json"))
  print(result.good ? "good" : "BAD", folder.path, result.message)
}
