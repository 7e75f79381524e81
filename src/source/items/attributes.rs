//! The words before a declaration's name that say where it runs and how it is stored.

use super::Tokens;

/// What the words of a declaration, and the macros among them, say.
#[derive(Clone, Debug, Default)]
pub struct Attributes {
    pub kernel: bool,
    pub device: bool,
    pub host: bool,
    pub constant: bool,
    pub managed: bool,
    pub shared: bool,
    pub is_static: bool,
    pub is_extern: bool,
    pub is_inline: bool,
    pub is_constexpr: bool,
    pub is_const: bool,
    pub is_friend: bool,
    pub is_virtual: bool,
    pub is_typedef: bool,
    /// `__launch_bounds__(..)` and the like: the arguments.
    pub bounds: Vec<Bounds>,
}

/// One attribute with arguments that speaks about the launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    pub what: BoundsKind,
    pub arguments: BoundsText,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum BoundsKind {
    LaunchBounds,
    BlockSize,
    ClusterDims,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BoundsText {
    /// Where the arguments stand, without parentheses.
    Tokens(Tokens),
    /// They come out of a macro.
    Expanded(String),
}

impl BoundsKind {
    pub(super) fn of(word: &[u8]) -> Option<BoundsKind> {
        Some(match word {
            b"__launch_bounds__" => BoundsKind::LaunchBounds,
            b"__block_size__" => BoundsKind::BlockSize,
            b"__cluster_dims__" => BoundsKind::ClusterDims,
            _ => return None,
        })
    }
}

impl Attributes {
    /// Takes up one word; false if it is none of the words that may stand before a declaration's type.
    pub(super) fn word(&mut self, word: &[u8]) -> bool {
        match word {
            b"__global__" => self.kernel = true,
            b"__device__" => self.device = true,
            b"__host__" => self.host = true,
            b"__constant__" => self.constant = true,
            b"__managed__" => self.managed = true,
            b"__shared__" => self.shared = true,
            b"static" => self.is_static = true,
            b"extern" => self.is_extern = true,
            b"constexpr" | b"consteval" | b"constinit" => self.is_constexpr = true,
            b"friend" => self.is_friend = true,
            b"virtual" => self.is_virtual = true,
            b"typedef" => self.is_typedef = true,
            b"inline" | b"__inline__" | b"__inline" | b"__forceinline__" | b"__forceinline" => self.is_inline = true,
            b"__noinline__" | b"explicit" | b"mutable" | b"thread_local" | b"register" | b"__extension__"
            | b"__restrict__" | b"__grid_constant__" | b"_Noreturn" | b"__tile__" => {}
            _ => return false,
        }
        true
    }
}

/// Words that are followed by arguments in parentheses and name no function.
pub(super) fn takes_arguments(word: &[u8]) -> bool {
    matches!(
        word,
        b"__launch_bounds__"
            | b"__block_size__"
            | b"__cluster_dims__"
            | b"__maxnreg__"
            | b"__align__"
            | b"alignas"
            | b"_Alignas"
            | b"__attribute__"
            | b"__attribute"
            | b"__declspec"
            | b"noexcept"
            | b"throw"
            | b"explicit"
            | b"requires"
            | b"asm"
            | b"__asm__"
            | b"__asm"
            | b"static_assert"
            | b"_Static_assert"
            | b"__nv_pure__"
    )
}

/// Whether the word alone, without arguments, is an attribute of CUDA's.
pub(super) fn is_attribute(word: &[u8]) -> bool {
    word.starts_with(b"__") && Attributes::default().word(word)
}

/// Whether the words before a function's name are the language's own and its type: there is no other that might, as a macro
/// out of view, be an attribute.
pub fn are_all_known<'w>(words: impl Iterator<Item = &'w [u8]>) -> bool {
    let (mut depth, mut is_qualified) = (0i32, false);
    let (mut built_in, mut named) = (false, false);
    for word in words {
        match word {
            b"<" => depth += 1,
            b">" => depth -= 1,
            b">>" => depth -= 2,
            _ if depth > 0 => {}
            b"::" => is_qualified = true,
            b"*" | b"&" | b"&&" | b"const" | b"volatile" | b"typename" | b"struct" | b"class" | b"enum" | b"union" => {}
            b"void" | b"bool" | b"char" | b"short" | b"int" | b"long" | b"signed" | b"unsigned" | b"float"
            | b"double" | b"auto" => {
                if named {
                    return false;
                }
                built_in = true;
            }
            word if is_specifier(word) && !takes_arguments(word) => {}
            word if word.first().is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_') => {
                if built_in || named && !std::mem::take(&mut is_qualified) {
                    return false;
                }
                named = true;
            }
            _ => return false,
        }
    }
    true
}

/// Whether the word stands before a declaration's type and names nothing itself.
pub(super) fn is_specifier(word: &[u8]) -> bool {
    takes_arguments(word) || Attributes::default().word(word)
}
