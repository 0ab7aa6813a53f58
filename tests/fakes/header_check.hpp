/* SPDX-License-Identifier: Apache-2.0 */
/* Two functions have one calling convention: as many parameters, each of the same size and
 * kind (pointer, floating, other). */
#include <cstddef>
#include <cstdint>
#include <type_traits>

template <class A, class B> constexpr bool alike()
{
    if constexpr (std::is_void_v<A> || std::is_void_v<B>)
        return std::is_void_v<A> == std::is_void_v<B>;
    else
        return sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B> &&
               std::is_floating_point_v<A> == std::is_floating_point_v<B>;
}

template <class F, class G> struct same_shape {
    static constexpr bool value = false;
};
template <class R, class... A, class S, class... B> struct same_shape<R (*)(A...), S (*)(B...)> {
    static constexpr bool value = []() {
        if constexpr (sizeof...(A) == sizeof...(B))
            return alike<R, S>() && (alike<A, B>() && ...);
        else
            return false;
    }();
};

#define CHECK(name)                                                                      \
    static_assert(same_shape<decltype(&::name), decltype(&fake::name)>::value, #name);
#define FAKE_API
