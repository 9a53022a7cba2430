// A filter's gain on complex samples: a class of the program's own, each thread a channel of neighbouring samples.
//// both
#include "hip_support.h"
constexpr int kChannels = 4096, kLength = 768;
class Complex {
 public:
  __host__ __device__ Complex(float real = 0, float imaginary = 0) : real_(real), imaginary_(imaginary) {}
  __host__ __device__ Complex& operator*=(const Complex& other) {
    const float real = real_ * other.real_ - imaginary_ * other.imaginary_;
    imaginary_ = real_ * other.imaginary_ + imaginary_ * other.real_;
    real_ = real;
    return *this;
  }
  __host__ __device__ float real() const { return real_; }
  __host__ __device__ float imaginary() const { return imaginary_; }

 private:
  float real_, imaginary_;
};
//// planted
__global__ void apply_gain(Complex* samples, const Complex* gains, int channels, int length) {
  const int channel = blockIdx.x * blockDim.x + threadIdx.x;
  if (channel >= channels) return;
  const Complex gain = gains[channel];
  for (int t = 0; t < length; ++t) samples[channel * length + t] *= gain;
}
void launch(Complex* samples, const Complex* gains) {
  apply_gain<<<kChannels / 64, 64>>>(samples, gains, kChannels, kLength);
}
//// expert
__global__ void apply_gain(Complex* samples, const Complex* gains, int channels, int length) {
  const int channel = blockIdx.x;
  const Complex gain = gains[channel];
  for (int t = threadIdx.x; t < length; t += blockDim.x) samples[channel * length + t] *= gain;
}
void launch(Complex* samples, const Complex* gains) {
  apply_gain<<<kChannels, 256>>>(samples, gains, kChannels, kLength);
}
//// both
int main() {
  std::vector<Complex> samples(kChannels * kLength), gains(kChannels);
  for (size_t i = 0; i < samples.size(); ++i) samples[i] = Complex(noise(i), noise(i + 3) - 0.5f);
  for (int c = 0; c < kChannels; ++c) gains[c] = Complex(1 + noise(c), noise(c + 5));
  Complex* device = upload(samples);
  launch(device, upload(gains));
  const auto found = download(device, samples.size());
  bool right = true;
  for (size_t i = 0; i < samples.size(); ++i) {
    Complex expected = samples[i];
    expected *= gains[i / kLength];
    right &= near(found[i].real(), expected.real(), 1e-5) && near(found[i].imaginary(), expected.imaginary(), 1e-5);
  }
  return told(right);
}
