// What the device says of itself: one processor and one die of an MI250X.
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "device_memory.h"
#include "thunk.h"

namespace gfx90a {

using namespace machine;

uint64_t host_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return uint64_t(now.tv_sec) * 1000000000u + uint64_t(now.tv_nsec);
}

namespace {

constexpr uint64_t kDeviceBytes = 8ull << 30, kHostBytes = 8ull << 30;

// A setting of the device's; see the README.
HSAuint32 setting(const char* name, HSAuint32 usual) {
  const char* const text = std::getenv(name);
  return text ? HSAuint32(std::max(1, std::atoi(text))) : usual;
}

HSAuint32 gpus() { return setting("GFX90A_GPUS", 1); }

void set_name(HsaNodeProperties& node, const char* marketing, const char* family) {
  std::copy(marketing, marketing + std::strlen(marketing), node.MarketingName);
  std::copy(family, family + std::strlen(family), node.AMDName);
}

void describe_cpu(HsaNodeProperties& node) {
  node.NumCPUCores = 2;
  node.NumCaches = 2;
  node.NumMemoryBanks = 1;
  node.NumIOLinks = gpus();
  node.MaxEngineClockMhzCCompute = 2000;
  node.DrmRenderMinor = -1;
  set_name(node, "Host of a software gfx90a", "");
}

void describe_gpu(HSAuint32 number, HsaNodeProperties& node) {
  node.NumSIMDPerCU = 4;
  node.NumFComputeCores = node.NumSIMDPerCU * setting("GFX90A_COMPUTE_UNITS", 110);
  node.MaxWavesPerSIMD = 8;
  node.NumShaderBanks = 8;
  node.NumArrays = 1;
  node.NumCUPerArray = 14;
  node.NumMemoryBanks = 3;
  node.NumCaches = 2;
  node.NumIOLinks = 1;
  node.LDSSizeInKB = 64;
  node.WaveFrontSize = 64;
  node.MaxSlotsScratchCU = 32;
  node.EngineId.ui32.Major = 9;
  node.EngineId.ui32.Minor = 0;
  node.EngineId.ui32.Stepping = 10;
  node.EngineId.ui32.uCode = 60;
  node.VendorId = 0x1002;
  node.DeviceId = 0x740C;
  node.LocationId = 0x100 * number;
  node.LocalMemSize = kDeviceBytes;
  node.MaxEngineClockMhzFCompute = 1700;
  node.DrmRenderMinor = HSAint32(127 + number);
  node.NumSdmaEngines = 2;
  node.NumSdmaQueuesPerEngine = 8;
  node.NumCpQueues = 24;
  node.UniqueID = 0x909 + number;
  node.uCodeEngineVersions.uCodeSDMA = 8;
  node.Capability.ui32.DoorbellType = 2;
  node.Capability.ui32.WatchPointsTotalBits = 2;
  node.Capability.ui32.SRAM_EDCSupport = 1;
  node.Capability.ui32.ASICRevision = 1;
  node.VGPRSizePerCU = 512 << 10;
  node.SGPRSizePerCU = 12800;
  // Of newer headers, in what ours reserve: one die, a number of the driver's, the family of gfx9.
  const uint32_t newer[] = {1, 0x909 + number, 141};
  static_assert(sizeof newer == sizeof node.Reserved, "they fill it");
  std::memcpy(node.Reserved, newer, sizeof newer);
  set_name(node, "Software gfx90a", "gfx90a");
}

}  // namespace
}  // namespace gfx90a

using namespace gfx90a;

GFX90A_API hsaKmtOpenKFD() { return HSAKMT_STATUS_SUCCESS; }
GFX90A_API hsaKmtCloseKFD() { return HSAKMT_STATUS_SUCCESS; }

GFX90A_API hsaKmtGetVersion(HsaVersionInfo* version) {
  version->KernelInterfaceMajorVersion = 1;
  version->KernelInterfaceMinorVersion = 6;
  return HSAKMT_STATUS_SUCCESS;
}

GFX90A_API hsaKmtAcquireSystemProperties(HsaSystemProperties* system) {
  *system = HsaSystemProperties{};
  system->NumNodes = kGpuNode + gpus();
  return HSAKMT_STATUS_SUCCESS;
}
GFX90A_API hsaKmtReleaseSystemProperties() { return HSAKMT_STATUS_SUCCESS; }

GFX90A_API hsaKmtGetNodeProperties(HSAuint32 node, HsaNodeProperties* properties) {
  HsaNodeProperties described{};
  if (node == kCpuNode)
    describe_cpu(described);
  else
    describe_gpu(node, described);
  store_node(described, properties);
  return HSAKMT_STATUS_SUCCESS;
}

GFX90A_API hsaKmtGetNodeMemoryProperties(HSAuint32 node, HSAuint32 count, HsaMemoryProperties* banks) {
  std::fill(banks, banks + count, HsaMemoryProperties{});
  banks[0].HeapType = node == kCpuNode ? HSA_HEAPTYPE_SYSTEM : HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC;
  banks[0].SizeInBytes = node == kCpuNode ? kHostBytes : kDeviceBytes;
  banks[0].Width = node == kCpuNode ? 64 : 4096;
  banks[0].MemoryClockMax = 1600;
  if (node == kCpuNode || count < 3) return HSAKMT_STATUS_SUCCESS;
  banks[1].HeapType = HSA_HEAPTYPE_GPU_LDS;
  banks[1].SizeInBytes = 64 << 10;
  banks[1].VirtualBaseAddress = kSharedAperture;
  banks[2].HeapType = HSA_HEAPTYPE_GPU_SCRATCH;
  banks[2].SizeInBytes = kApertureBytes;
  banks[2].VirtualBaseAddress = kPrivateAperture;
  return HSAKMT_STATUS_SUCCESS;
}

GFX90A_API hsaKmtGetNodeCacheProperties(HSAuint32, HSAuint32, HSAuint32 count, HsaCacheProperties* caches) {
  for (HSAuint32 n = 0; n < count; ++n) {
    caches[n] = HsaCacheProperties{};
    caches[n].CacheLevel = n + 1;
    caches[n].CacheSize = n == 0 ? 16 : 8192;
    caches[n].CacheLineSize = n == 0 ? 64 : 128;
    caches[n].CacheType.ui32.Data = 1;
    caches[n].CacheType.ui32.CPU = 1;
    caches[n].CacheType.ui32.HSACU = 1;
  }
  return HSAKMT_STATUS_SUCCESS;
}

GFX90A_API hsaKmtGetNodeIoLinkProperties(HSAuint32 node, HSAuint32 count, HsaIoLinkProperties* links) {
  for (HSAuint32 n = 0; n < count; ++n) {
    links[n] = HsaIoLinkProperties{};
    links[n].IoLinkType = HSA_IOLINKTYPE_PCIEXPRESS;
    links[n].NodeFrom = node;
    links[n].NodeTo = node == kCpuNode ? kGpuNode + n : kCpuNode;
    links[n].Weight = 20;
    links[n].MaximumBandwidth = 32000;
  }
  return HSAKMT_STATUS_SUCCESS;
}

GFX90A_API hsaKmtGetClockCounters(HSAuint32, HsaClockCounters* clocks) {
  clocks->GPUClockCounter = clocks->CPUClockCounter = clocks->SystemClockCounter = host_ns();
  clocks->SystemClockFrequencyHz = 1000000000;
  return HSAKMT_STATUS_SUCCESS;
}

GFX90A_API hsaKmtGetTileConfig(HSAuint32, HsaGpuTileConfig* config) {
  config->NumTileConfigs = config->NumMacroTileConfigs = 0;
  config->GbAddrConfig = 0x2A114042;
  config->NumBanks = 4;
  config->NumRanks = 1;
  return HSAKMT_STATUS_SUCCESS;
}

GFX90A_API hsaKmtGetXNACKMode(HSAint32* enabled) {
  *enabled = 0;
  return HSAKMT_STATUS_SUCCESS;
}
GFX90A_API hsaKmtSetXNACKMode(HSAint32) { return HSAKMT_STATUS_NOT_SUPPORTED; }
GFX90A_API hsaKmtRuntimeEnable(void*, bool) { return HSAKMT_STATUS_NOT_SUPPORTED; }
GFX90A_API hsaKmtRuntimeDisable() { return HSAKMT_STATUS_NOT_SUPPORTED; }
GFX90A_API hsaKmtSetTrapHandler(HSAuint32, void*, HSAuint64, void*, HSAuint64) { return HSAKMT_STATUS_SUCCESS; }
GFX90A_API hsaKmtSetMemoryPolicy(HSAuint32, HSAuint32, HSAuint32, void*, HSAuint64) { return HSAKMT_STATUS_SUCCESS; }
