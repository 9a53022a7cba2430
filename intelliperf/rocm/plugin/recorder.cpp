#include "recorder.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicsAMDGPU.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <cstddef>

#include "records.h"

namespace intelliperf {

using namespace llvm;

namespace {

constexpr unsigned kGlobal = 1, kFlat = 0;

// The attributes by which a kernel gives up inputs that records need.
void ask_for_inputs(Module& module) {
  static constexpr StringRef kInputs[] = {"amdgpu-no-workgroup-id-x", "amdgpu-no-workgroup-id-y",
                                          "amdgpu-no-workgroup-id-z", "amdgpu-no-workitem-id-x",
                                          "amdgpu-no-workitem-id-y",  "amdgpu-no-workitem-id-z"};
  for (Function& function : module) {
    for (const StringRef input : kInputs) function.removeFnAttr(input);
    for (BasicBlock& block : function)
      for (Instruction& i : block)
        if (auto* call = dyn_cast<CallBase>(&i))
          for (const StringRef input : kInputs) call->removeFnAttr(input);
  }
}

class Recorder {
 public:
  Recorder(Module& module, uint64_t identity)
      : context_(module.getContext()),
        word_(Type::getInt64Ty(context_)),
        half_(Type::getInt32Ty(context_)),
        global_(PointerType::get(context_, kGlobal)) {
    auto* bytes = ArrayType::get(word_, sizeof(RecordsVariable) / 8);
    std::vector<Constant*> words(sizeof(RecordsVariable) / 8, ConstantInt::get(word_, 0));
    words[0] = ConstantInt::get(word_, identity);
    variable_ = new GlobalVariable(module, bytes, false, GlobalValue::WeakODRLinkage, ConstantArray::get(bytes, words),
                                   kRecordsVariable, nullptr, GlobalValue::NotThreadLocal, kGlobal, true);
    variable_->setVisibility(GlobalValue::ProtectedVisibility);
    variable_->setAlignment(Align(16));
    appendToUsed(module, {variable_});
  }

  // Once per function: which number the wave that runs it has, and where records go.
  void enter(Function& function) {
    BasicBlock& entry = function.getEntryBlock();
    Instruction* first = after_allocas(entry);
    BasicBlock* const body = SplitBlock(&entry, first);
    BasicBlock* const lookup = BasicBlock::Create(context_, "", &function, body);
    BasicBlock* const found = BasicBlock::Create(context_, "", &function, body);
    entry.getTerminator()->eraseFromParent();

    IRBuilder<> b(&entry);
    Value* const slots = pointer(b, offsetof(RecordsVariable, slots));
    b.CreateCondBr(b.CreateIsNotNull(slots), lookup, body);

    // A function may be called by another kernel, too, whose groups and waves are others: these find no place.
    b.SetInsertPoint(lookup);
    Value* const last = b.CreateSub(number(b, offsetof(RecordsVariable, group_count)), b.getInt32(1));
    Value* const group = group_number(b);
    Value* const inside = b.CreateSelect(b.CreateICmpULE(group, last), group, last);
    Value* const slot = b.CreateLoad(half_, b.CreateGEP(half_, slots, b.CreateZExt(inside, word_)));
    Value* const per_group = number(b, offsetof(RecordsVariable, waves_per_group));
    Value* const wave_here = uniform(b, wave_in_group(b));
    Value* const known = b.CreateAnd(b.CreateICmpEQ(group, inside), b.CreateICmpULT(wave_here, per_group));
    b.CreateCondBr(b.CreateAnd(known, b.CreateICmpNE(slot, b.getInt32(kNotRecorded))), found, body);

    b.SetInsertPoint(found);
    Value* const wave = uniform(b, b.CreateAdd(b.CreateMul(slot, per_group), wave_here));
    Value* const pool = pointer(b, offsetof(RecordsVariable, pool));
    Value* const words = field(b, word_, offsetof(RecordsVariable, pool_words));
    b.CreateBr(body);

    b.SetInsertPoint(body, body->begin());
    const auto join = [&](Type* type, Value* value) {
      PHINode* const joined = b.CreatePHI(type, 3);
      joined->addIncoming(Constant::getNullValue(type), &entry);
      joined->addIncoming(Constant::getNullValue(type), lookup);
      joined->addIncoming(value, found);
      return joined;
    };
    pool_ = join(global_, pool);
    pool_words_ = join(word_, words);
    wave_ = join(half_, wave);
  }

  // Before the access. All lanes write the head of the record, with the same content.
  void record(const Site& site, size_t number) {
    Instruction* const recorded =
        SplitBlockAndInsertIfThen(IRBuilder<>(site.instruction).CreateIsNotNull(pool_), site.instruction, false);
    IRBuilder<> b(recorded);
    Value* const mask = b.CreateIntrinsic(Intrinsic::amdgcn_ballot, {word_}, {b.getTrue()});
    Value* const lanes = b.CreateUnaryIntrinsic(Intrinsic::ctpop, mask);
    Value* const low = b.CreateIntrinsic(Intrinsic::amdgcn_mbcnt_lo, {}, {b.CreateTrunc(mask, half_), b.getInt32(0)});
    Value* const high = b.CreateTrunc(b.CreateLShr(mask, 32), half_);
    Value* const place = b.CreateIntrinsic(Intrinsic::amdgcn_mbcnt_hi, {}, {high, low});
    Value* const wanted = b.CreateAdd(lanes, b.getInt64(kRecordWords));
    Value* const begin = taken(b, b.CreateICmpEQ(place, b.getInt32(0)), wanted, recorded);
    b.SetInsertPoint(recorded);
    Instruction* const fits =
        SplitBlockAndInsertIfThen(b.CreateICmpULE(b.CreateAdd(begin, wanted), pool_words_), recorded, false);
    b.SetInsertPoint(fits);
    Value* const records = b.CreateConstGEP1_64(word_, pool_, sizeof(PoolHead) / 8);
    Value* const head = b.CreateGEP(word_, records, begin);
    Value* const who = b.CreateOr(b.CreateShl(b.CreateZExt(wave_, word_), 32), b.getInt64(number));
    b.CreateAlignedStore(who, head, Align(8));
    b.CreateAlignedStore(mask, b.CreateConstGEP1_64(word_, head, 1), Align(8));
    Value* const own = b.CreateGEP(word_, b.CreateConstGEP1_64(word_, head, kRecordWords), b.CreateZExt(place, word_));
    b.CreateAlignedStore(address(b, site.pointer), own, Align(8));
  }

 private:
  // Words of the pool, which the wave's first lane takes for all: where they begin.
  Value* taken(IRBuilder<>& b, Value* first, Value* wanted, Instruction* before) {
    BasicBlock* const ahead = before->getParent();
    Instruction* const one = SplitBlockAndInsertIfThen(first, before, false);
    b.SetInsertPoint(one);
    AtomicRMWInst* const at = b.CreateAtomicRMW(AtomicRMWInst::Add, pool_, wanted, Align(8), AtomicOrdering::Monotonic,
                                                context_.getOrInsertSyncScopeID("agent"));
    b.SetInsertPoint(before->getParent(), before->getParent()->begin());
    PHINode* const begin = b.CreatePHI(word_, 2);
    begin->addIncoming(Constant::getNullValue(word_), ahead);
    begin->addIncoming(at, one->getParent());
    b.SetInsertPoint(before);
    Value* const upper = uniform(b, b.CreateTrunc(b.CreateLShr(begin, 32), half_));
    Value* const lower = uniform(b, b.CreateTrunc(begin, half_));
    return b.CreateOr(b.CreateShl(b.CreateZExt(upper, word_), 32), b.CreateZExt(lower, word_));
  }

  // Private arrays are to stay in the first block, where they need no stack of changing size.
  static Instruction* after_allocas(BasicBlock& entry) {
    Instruction* first = &*entry.getFirstNonPHIOrDbgOrAlloca();
    for (Instruction& i : make_early_inc_range(entry)) {
      auto* alloca = dyn_cast<AllocaInst>(&i);
      if (alloca && alloca->isStaticAlloca() && first->comesBefore(alloca)) alloca->moveBefore(first);
    }
    return first;
  }

  Value* pointer(IRBuilder<>& b, size_t offset) { return field(b, global_, offset); }
  Value* number(IRBuilder<>& b, size_t offset) { return field(b, half_, offset); }
  Value* field(IRBuilder<>& b, Type* type, size_t offset) {
    return b.CreateLoad(type, b.CreateConstGEP1_64(b.getInt8Ty(), variable_, offset), true);
  }

  static Value* uniform(IRBuilder<>& b, Value* value) {
    return b.CreateIntrinsic(Intrinsic::amdgcn_readfirstlane,
#if LLVM_VERSION_MAJOR >= 19
                             {value->getType()},
#else
                             {},
#endif
                             {value});
  }

  // Empty lists alone fit more than one overload since LLVM 20.
  static Value* input(IRBuilder<>& b, Intrinsic::ID intrinsic) {
    return b.CreateIntrinsic(intrinsic, ArrayRef<Type*>(), ArrayRef<Value*>());
  }

  Value* group_number(IRBuilder<>& b) {
    Value* const x = input(b, Intrinsic::amdgcn_workgroup_id_x);
    Value* const y = input(b, Intrinsic::amdgcn_workgroup_id_y);
    Value* const z = input(b, Intrinsic::amdgcn_workgroup_id_z);
    return linear(b, x, y, z, offsetof(RecordsVariable, groups));
  }

  Value* wave_in_group(IRBuilder<>& b) {
    Value* const x = input(b, Intrinsic::amdgcn_workitem_id_x);
    Value* const y = input(b, Intrinsic::amdgcn_workitem_id_y);
    Value* const z = input(b, Intrinsic::amdgcn_workitem_id_z);
    Value* const size = input(b, Intrinsic::amdgcn_wavefrontsize);
    return b.CreateUDiv(linear(b, x, y, z, offsetof(RecordsVariable, items)), size);
  }

  Value* linear(IRBuilder<>& b, Value* x, Value* y, Value* z, size_t sizes) {
    Value* const rows = b.CreateAdd(b.CreateMul(z, number(b, sizes + 4)), y);
    return b.CreateAdd(b.CreateMul(rows, number(b, sizes)), x);
  }

  // A flat address tells only on the device which memory it means.
  Value* address(IRBuilder<>& b, Value* at) {
    Value* const bits = b.CreateZExt(b.CreatePtrToInt(at, b.getIntPtrTy(module_layout(b), space_of(at))), word_);
    if (space_of(at) != kFlat) return bits;
    Value* const offset = b.CreateAnd(bits, b.getInt64(0xFFFFFFFF));
    Value* const shared = b.CreateIntrinsic(Intrinsic::amdgcn_is_shared, {}, {at});
    Value* const own = b.CreateIntrinsic(Intrinsic::amdgcn_is_private, {}, {at});
    Value* const otherwise = b.CreateSelect(own, b.CreateOr(offset, b.getInt64(kPrivateTag)), bits);
    return b.CreateSelect(shared, b.CreateOr(offset, b.getInt64(kSharedTag)), otherwise);
  }

  static unsigned space_of(const Value* at) { return at->getType()->getPointerAddressSpace(); }
  static const DataLayout& module_layout(IRBuilder<>& b) { return b.GetInsertBlock()->getModule()->getDataLayout(); }

  LLVMContext& context_;
  Type *word_, *half_;
  PointerType* global_;
  GlobalVariable* variable_;
  Value *pool_ = nullptr, *pool_words_ = nullptr, *wave_ = nullptr;  // of the function at hand
};

}  // namespace

void add_records(Module& module, const Sites& sites, uint64_t identity) {
  ask_for_inputs(module);
  Recorder recorder(module, identity);
  for (Function* function : sites.functions) {
    recorder.enter(*function);
    for (size_t n = 0; n < sites.all.size(); ++n)
      if (sites.all[n].instruction->getFunction() == function) recorder.record(sites.all[n], n);
  }
}

}  // namespace intelliperf
